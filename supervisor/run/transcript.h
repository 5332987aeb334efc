// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "supervisor/run/encoding_fallback.h"
#include "supervisor/run/line_decoder.h"
#include "supervisor/run/output_store.h"
#include "supervisor/run/run.h"

namespace wardcase::supervisor {

// What a program wrote: counted, and kept as far as the record is to have it.
class Transcript {
 public:
  // From here on head and tail of each stream are kept, `capture` bytes of it at most, and both
  // together in order of arrival. `fallback`: as LineDecoder's.
  void keep(std::uint64_t capture, const EncodingFallback* fallback = nullptr);
  // Counts the bytes and keeps them, those past `most` of the stream excepted. Returns what is
  // within it: all of them, or their beginning.
  std::string_view take(Stream stream, std::string_view bytes, std::optional<std::uint64_t> most);
  // What was written so far, into the record's fields of it. The streams may go on.
  void tell(RunRecord& record) const;

 private:
  struct Kept {
    std::optional<OutputStore> store;
    LineDecoder decoder;  // for the merged view
    std::uint64_t bytes = 0;
  };
  std::array<Kept, 2> streams_;  // by Stream
  std::optional<OutputStore> merged_;
};

}  // namespace wardcase::supervisor
