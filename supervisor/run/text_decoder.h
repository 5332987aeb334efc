// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace wardcase::supervisor {

// Bytes to valid UTF-8, a piece at a time: never splits a character, replaces
// only what is truly bad, one U+FFFD for each maximal bad part (the WHATWG
// rule), and counts those.
class TextDecoder {
 public:
  // Appends the decoded text; an unfinished character waits for the next call.
  void decode(std::string_view bytes, std::string& text);
  // The end: an unfinished character becomes one U+FFFD.
  void finish(std::string& text);
  [[nodiscard]] std::uint64_t errors() const { return errors_; }
  // How many bytes wait for the rest of their character: 0 to 3.
  [[nodiscard]] std::size_t unfinished() const { return pending_.size(); }
  // The rest of it will not come: it is left out. Returns its bytes.
  std::size_t drop_unfinished();

 private:
  std::string_view finish_pending(std::string_view bytes, std::string& text);
  void replace_bad(std::string& text);

  std::string pending_;
  std::uint64_t errors_ = 0;
};

// The first place at or after `at` that is not ASCII; the end where all is.
[[nodiscard]] std::size_t skip_ascii(std::string_view bytes, std::size_t at);

// All of `bytes` at once.
[[nodiscard]] std::string to_utf8(std::string_view bytes);

}  // namespace wardcase::supervisor
