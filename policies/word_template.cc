// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "policies/word_template.h"

#include <algorithm>
#include <charconv>

namespace wardcase::policies {
namespace {

constexpr std::size_t kLongestLine = 1000;
constexpr std::size_t kMostDigits = 9;

bool is_name_letter(char letter) { return (letter >= 'a' && letter <= 'z') || letter == '_'; }
bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

// The placeholder that `text` begins with, without its braces; "" if it begins with none.
std::string_view placeholder_at(std::string_view text) {
  if (!text.starts_with('{')) return "";
  const auto* const end = std::find_if_not(text.begin() + 1, text.end(), is_name_letter);
  if (end == text.end() || *end != '}') return "";
  return text.substr(1, static_cast<std::size_t>(end - text.begin()) - 1);
}

template <typename Take>
void for_each_placeholder(std::string_view text, Take take) {
  for (; !text.empty(); text.remove_prefix(1)) {
    if (const std::string_view name = placeholder_at(text); !name.empty()) take(name);
  }
}

std::uint32_t number_of(std::string_view digits) {
  std::uint32_t number = 0;
  (void)std::from_chars(digits.data(), digits.data() + digits.size(), number);  // digits that fit
  return number;
}

// One line against one pattern. With two parts of any length, which is the most that patterns
// have in practice, it takes the square of the line's length at worst, and lines are short.
class Matcher {
 public:
  bool match(std::string_view pattern, std::string_view line) {
    const std::string_view name = placeholder_at(pattern);
    if (name.empty()) {
      if (pattern.empty()) return line.empty();
      if (line.empty() || line.front() != pattern.front()) return false;
      return match(pattern.substr(1), line.substr(1));
    }
    const std::string_view rest = pattern.substr(name.size() + 2);
    if (name == "line" || name == "column") return match_number(name, rest, line);
    if (rest.empty()) return !line.empty() && keep(name, line);
    for (std::size_t length = 1; length < line.size(); ++length) {
      if (--steps_ < 0) return false;
      if (match(rest, line.substr(length))) return keep(name, line.substr(0, length));
    }
    return false;
  }

  SourceError found;

 private:
  bool match_number(std::string_view name, std::string_view rest, std::string_view line) {
    const auto* const end = std::find_if_not(line.begin(), line.end(), is_digit);
    const auto length = static_cast<std::size_t>(end - line.begin());
    if (length == 0 || length > kMostDigits || !match(rest, line.substr(length))) return false;
    (name == "line" ? found.line : found.column) = number_of(line.substr(0, length));
    return true;
  }

  bool keep(std::string_view name, std::string_view value) {
    if (name == "file") found.file = value;
    if (name == "text") found.text = value;
    return true;
  }

  int steps_ = 100'000;
};

}  // namespace

std::optional<std::string> fill_template(std::string_view text, std::span<const Filling> fillings) {
  std::string filled;
  while (!text.empty()) {
    const std::string_view name = placeholder_at(text);
    if (name.empty()) {
      filled += text.front();
      text.remove_prefix(1);
      continue;
    }
    const auto found = std::ranges::find(fillings, name, &Filling::name);
    if (found == fillings.end() || !found->value) return std::nullopt;
    filled += *found->value;
    text.remove_prefix(name.size() + 2);
  }
  return filled;
}

std::string_view unknown_placeholder(std::string_view text,
                                     std::span<const std::string_view> known) {
  std::string_view unknown;
  for_each_placeholder(text, [&](std::string_view name) {
    if (unknown.empty() && std::ranges::find(known, name) == known.end()) unknown = name;
  });
  return unknown;
}

bool has_placeholder(std::string_view text, std::string_view wanted) {
  bool has = false;
  for_each_placeholder(text, [&](std::string_view name) { has = has || name == wanted; });
  return has;
}

std::optional<SourceError> match_error(std::string_view pattern, std::string_view line) {
  Matcher matcher;
  if (!matcher.match(pattern, line.substr(0, kLongestLine))) return std::nullopt;
  return std::move(matcher.found);
}

}  // namespace wardcase::policies
