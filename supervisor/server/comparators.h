// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace wardcase::supervisor {

// When what a program prints counts as what was expected of it.
struct Comparison {
  enum class Kind : std::uint8_t {
    exact,   // byte by byte
    trim,    // but for white space at the ends of lines, and empty lines at the end of all
    tokens,  // words between white space
    number,  // words, of which numbers may differ a little; others are equal as text
  };
  Kind kind = Kind::trim;
  // Of `number`: the one of the two that lets more through counts. `relative` is of the number
  // that is expected.
  double absolute = 0;
  double relative = 0;
};

// Compares what is printed, piece by piece as it comes, in bounded memory: no more of it is ever
// held than what is expected has.
class Comparator {
 public:
  Comparator() = default;
  Comparator(const Comparator&) = delete;
  Comparator& operator=(const Comparator&) = delete;
  virtual ~Comparator() = default;

  virtual void take(std::string_view bytes) = 0;
  // After the last of them: the first difference as a sentence with short excerpts, valid UTF-8;
  // "": there is none.
  [[nodiscard]] virtual std::string finish() = 0;
};

// `expected` outlives it.
[[nodiscard]] std::unique_ptr<Comparator> make_comparator(const Comparison& comparison,
                                                          std::string_view expected);

}  // namespace wardcase::supervisor
