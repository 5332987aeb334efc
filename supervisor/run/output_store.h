// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "supervisor/run/encoding_fallback.h"
#include "supervisor/run/run_record.h"

namespace wardcase::supervisor {

// Keeps the head and the tail of a stream within a fixed cap (half each) and
// counts all of it. Memory never exceeds the cap.
class OutputStore {
 public:
  // `cap` in bytes, at least 2. `fallback`: as LineDecoder's.
  explicit OutputStore(std::uint64_t cap, const EncodingFallback* fallback = nullptr);
  void append(std::string_view bytes);
  [[nodiscard]] std::uint64_t total() const { return total_; }
  // The cut is at character edges, with a fallback also where a line begins that is not UTF-8.
  // Where something is left out, the text (never raw) has one line of its own: "[wardcase: N bytes
  // omitted]".
  [[nodiscard]] KeptOutput kept() const;

 private:
  void append_to_tail(std::string_view bytes);

  const EncodingFallback* fallback_;
  std::size_t head_cap_;
  std::size_t tail_cap_;
  std::string head_;
  std::string tail_;            // a ring once full
  std::size_t tail_start_ = 0;  // its oldest byte
  std::uint64_t total_ = 0;
};

}  // namespace wardcase::supervisor
