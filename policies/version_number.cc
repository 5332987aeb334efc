// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "policies/version_number.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>

namespace wardcase::policies {
namespace {

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

// Digits and the dots between them.
std::string_view number_at(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && (is_digit(text[end]) || (text[end] == '.' && end + 1 < text.size() &&
                                                       is_digit(text[end + 1])))) {
    ++end;
  }
  return text.substr(0, end);
}

std::uint64_t take_number(std::string_view& version) {
  const std::string_view digits = version.substr(0, version.find('.'));
  version.remove_prefix(std::min(version.size(), digits.size() + 1));
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc::result_out_of_range ? std::numeric_limits<std::uint64_t>::max()
                                                 : number;
}

}  // namespace

std::string_view find_version(std::string_view text) {
  std::string_view first;
  while (!text.empty()) {
    const std::string_view number = is_digit(text.front()) ? number_at(text) : "";
    if (number.find('.') != std::string_view::npos) return number;
    if (first.empty()) first = number;
    text.remove_prefix(std::max<std::size_t>(1, number.size()));
  }
  return first;
}

bool is_version_below(std::string_view version, std::string_view minimum) {
  while (!version.empty() || !minimum.empty()) {
    const std::uint64_t have = take_number(version);
    const std::uint64_t need = take_number(minimum);
    if (have != need) return have < need;
  }
  return false;
}

}  // namespace wardcase::policies
