// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Two ways to compare: by position in a text (exact, trim) and by words (tokens, numbers). What
// differs is told where it begins in the output. White space is that of ASCII, whatever the locale.
#include "supervisor/server/comparators.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "supervisor/run/text_decoder.h"

namespace wardcase::supervisor {

namespace {

constexpr std::size_t kExcerptBytes = 40;
// A longer word is no number.
constexpr std::size_t kLongestNumber = 4096;

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// In quotes, on one line, as short as can be told; "nothing" at an end.
std::string excerpt(std::string_view text) {
  if (text.empty()) return "nothing more";
  std::string shown;
  for (const char c : text.substr(0, kExcerptBytes)) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '\n') {
      shown += "\\n";
    } else if (code < 0x20 || code == 0x7f) {
      shown += "\\x";
      shown += "0123456789abcdef"[code >> 4U];
      shown += "0123456789abcdef"[code & 15U];
    } else {
      shown += c;
    }
  }
  return "'" + to_utf8(shown) + (text.size() > kExcerptBytes ? "..." : "") + "'";
}

// Where in the output we are, as editors count.
class Position {
 public:
  void pass(std::string_view bytes) {
    for (const char c : bytes) {
      if (c == '\n') {
        ++line_;
        column_ = 1;
      } else if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) {
        ++column_;
      }
    }
  }
  [[nodiscard]] std::string text() const {
    return "line " + std::to_string(line_) + ", column " + std::to_string(column_);
  }

 private:
  std::uint64_t line_ = 1;
  std::uint64_t column_ = 1;
};

// The first difference of two texts: what is expected from there on, and what has come.
class Difference {
 public:
  [[nodiscard]] bool is_found() const { return is_found_; }
  void begin(const Position& position, std::string_view expected) {
    is_found_ = true;
    place_ = position.text();
    expected_ = expected.substr(0, kExcerptBytes + 1);
  }
  void take(std::string_view bytes) {
    if (got_.size() <= kExcerptBytes) got_ += bytes.substr(0, kExcerptBytes + 1 - got_.size());
  }
  [[nodiscard]] std::string text() const {
    return place_ + ": expected " + excerpt(expected_) + ", got " + excerpt(got_);
  }

 private:
  bool is_found_ = false;
  std::string place_;
  std::string expected_;
  std::string got_;
};

class ExactComparator : public Comparator {
 public:
  explicit ExactComparator(std::string_view expected) : rest_(expected) {}

  void take(std::string_view bytes) override {
    if (difference_.is_found()) return difference_.take(bytes);
    const std::size_t most = std::min(bytes.size(), rest_.size());
    const auto [mine, theirs] = std::mismatch(
        bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(most), rest_.begin());
    const auto same = static_cast<std::size_t>(mine - bytes.begin());
    position_.pass(bytes.substr(0, same));
    rest_.remove_prefix(same);
    if (same == bytes.size()) return;
    difference_.begin(position_, rest_);
    difference_.take(bytes.substr(same));
  }

  std::string finish() override {
    if (!difference_.is_found() && rest_.empty()) return "";
    if (!difference_.is_found()) difference_.begin(position_, rest_);
    return difference_.text();
  }

 private:
  std::string_view rest_;  // of what is expected
  Position position_;
  Difference difference_;
};

// Lines without the white space at their ends, and without the empty ones at the end of all.
std::string trimmed(std::string_view text) {
  std::string trimmed;
  trimmed.reserve(text.size());
  std::size_t solid = 0;  // the length up to the last that is no white space of a line's end
  for (const char c : text) {
    if (c == '\n') trimmed.resize(solid);
    trimmed += c;
    if (c == '\n' || !is_space(c)) solid = trimmed.size();
  }
  while (!trimmed.empty() && is_space(trimmed.back())) trimmed.pop_back();
  return trimmed;
}

// What white space there is counts only once something comes after it: until then it is compared,
// but neither found wanting nor held.
class TrimComparator : public Comparator {
 public:
  explicit TrimComparator(std::string_view expected) : expected_(trimmed(expected)) {}

  void take(std::string_view bytes) override {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (difference_.is_found()) return difference_.take(bytes.substr(i));
      take(bytes[i]);
      position_.pass(bytes.substr(i, 1));
      if (!is_space(bytes[i])) solid_end_ = position_;
    }
  }

  std::string finish() override {
    if (!difference_.is_found() && at_ == expected_.size()) return "";
    if (!difference_.is_found()) difference_.begin(solid_end_, rest_from(at_));
    return difference_.text();
  }

 private:
  struct Wrong {
    Position position;
    std::size_t at;   // in what is expected
    std::string got;  // the beginning
  };

  void take(char c) {
    for (auto* wrong : {&wrong_line_, &wrong_space_}) {
      if (*wrong && (*wrong)->got.size() <= kExcerptBytes) (*wrong)->got += c;
    }
    if (c == '\n') {
      compare(c, at_ + lines_, wrong_line_);
      ++lines_;
      spaces_ = 0;
      wrong_space_.reset();
    } else if (is_space(c)) {
      compare(c, at_ + lines_ + spaces_, wrong_space_);
      ++spaces_;
    } else {
      take_solid(c);
    }
  }

  void compare(char c, std::size_t at, std::optional<Wrong>& wrong) const {
    if (wrong || (at < expected_.size() && expected_[at] == c)) return;
    wrong = {position_, at, std::string(1, c)};
  }

  // Now all that was pending counts.
  void take_solid(char c) {
    std::optional<Wrong> wrong = wrong_line_ ? wrong_line_ : wrong_space_;
    const std::size_t at = at_ + lines_ + spaces_;
    compare(c, at, wrong);
    if (wrong) {
      difference_.begin(wrong->position, rest_from(wrong->at));
      return difference_.take(wrong->got);
    }
    at_ = at + 1;
    lines_ = 0;
    spaces_ = 0;
  }

  [[nodiscard]] std::string_view rest_from(std::size_t at) const {
    return std::string_view(expected_).substr(std::min(at, expected_.size()));
  }

  std::string expected_;
  std::size_t at_ = 0;      // what is before it has come
  std::size_t lines_ = 0;   // line breaks since then,
  std::size_t spaces_ = 0;  // and other white space since the last of them
  std::optional<Wrong> wrong_line_;
  std::optional<Wrong> wrong_space_;
  Position position_;
  Position solid_end_;
  Difference difference_;
};

std::optional<double> number_of(std::string_view word) {
  if (word.starts_with('+') && !word.starts_with("+-")) word.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

// No number is near one that is none or has no end, but for the same.
bool are_near(const Comparison& comparison, std::string_view got, std::string_view expected) {
  const auto mine = number_of(got);
  const auto theirs = number_of(expected);
  if (!mine || !theirs) return false;
  if (std::isnan(*mine) || std::isnan(*theirs)) return std::isnan(*mine) && std::isnan(*theirs);
  if (std::isinf(*mine) || std::isinf(*theirs)) return *mine == *theirs;
  const double apart = std::fabs(*mine - *theirs);
  return apart <= comparison.absolute || apart <= comparison.relative * std::fabs(*theirs);
}

class WordComparator : public Comparator {
 public:
  WordComparator(const Comparison& comparison, std::string_view expected)
      : comparison_(comparison), rest_(expected) {
    next_expected();
  }

  void take(std::string_view bytes) override {
    for (std::size_t i = 0; i < bytes.size() && !difference_.is_found(); ++i) {
      if (is_space(bytes[i])) {
        end_word();
      } else {
        if (word_.empty()) start_ = position_;
        if (word_.size() < most_) word_ += bytes[i];
      }
      position_.pass(bytes.substr(i, 1));
    }
  }

  std::string finish() override {
    if (!difference_.is_found()) end_word();
    if (!difference_.is_found() && expected_.empty()) return "";
    if (!difference_.is_found()) differ(position_);
    return "word " + std::to_string(words_ + 1) + ", " + difference_.text();
  }

 private:
  // "": there is none.
  void next_expected() {
    while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
    const auto* const end = std::ranges::find_if(rest_, is_space);
    expected_ = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(expected_.size());
    // One more than can be equal.
    most_ = std::max(expected_.size(), kExcerptBytes) + 1;
    if (comparison_.kind == Comparison::Kind::number) most_ = std::max(most_, kLongestNumber);
  }

  void end_word() {
    if (word_.empty()) return;
    const bool is_number = comparison_.kind == Comparison::Kind::number;
    const bool is_same =
        word_ == expected_ || (is_number && are_near(comparison_, word_, expected_));
    if (!is_same) return differ(start_);
    ++words_;
    word_.clear();
    next_expected();
  }

  void differ(const Position& where) {
    difference_.begin(where, expected_);
    difference_.take(word_);
  }

  Comparison comparison_;
  std::string_view rest_;      // of what is expected,
  std::string_view expected_;  // after this word
  std::size_t most_ = 0;       // that is kept of the word that comes
  std::string word_;
  std::uint64_t words_ = 0;  // that were equal
  Position position_;
  Position start_;  // of the word
  Difference difference_;
};

}  // namespace

std::unique_ptr<Comparator> make_comparator(const Comparison& comparison,
                                            std::string_view expected) {
  switch (comparison.kind) {
    case Comparison::Kind::exact:
      return std::make_unique<ExactComparator>(expected);
    case Comparison::Kind::trim:
      return std::make_unique<TrimComparator>(expected);
    case Comparison::Kind::tokens:
    case Comparison::Kind::number:
      break;
  }
  return std::make_unique<WordComparator>(comparison, expected);
}

}  // namespace wardcase::supervisor
