// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "supervisor/run/encoding_fallback.h"
#include "supervisor/run/text_decoder.h"

namespace wardcase::supervisor {

// As TextDecoder; with a fallback each line that is not UTF-8 is taken for that encoding,
// and only where it is not that either are its bad bytes replaced. What of a line
// comes before its first byte above 127 is given at once, the rest waits for the end of the
// line, 64 KiB at most.
class LineDecoder {
 public:
  // `fallback` is borrowed; nullptr: none.
  explicit LineDecoder(const EncodingFallback* fallback = nullptr) : fallback_(fallback) {}

  void decode(std::string_view bytes, std::string& text);
  // The end of the stream.
  void finish(std::string& text);
  // What follows was left out: an unfinished character is dropped. Returns its bytes.
  std::size_t cut(std::string& text);
  [[nodiscard]] std::uint64_t errors() const { return plain_.errors(); }

 private:
  // Decodes what waits: a line's end, or what of it has come. Returns how many bytes at
  // the end of that began a character and are not in `text`.
  std::size_t settle(std::string& text, bool is_whole);

  const EncodingFallback* fallback_;
  TextDecoder plain_;
  std::string waiting_;
};

}  // namespace wardcase::supervisor
