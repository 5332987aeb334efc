// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/byte_range.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

namespace wardcase::supervisor {

namespace {

// nullopt: no number. One that is too large is as large as it gets.
std::optional<std::uint64_t> parse_position(std::string_view digits) {
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  std::uint64_t number = UINT64_MAX;
  (void)std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

}  // namespace

ByteRange parse_range(std::string_view header, std::uint64_t size) {
  const ByteRange whole = {ByteRange::Kind::whole, 0, size};
  const ByteRange none = {ByteRange::Kind::unsatisfiable, 0, 0};
  constexpr std::string_view kUnit = "bytes=";
  if (!header.starts_with(kUnit)) return whole;
  header.remove_prefix(kUnit.size());
  const std::size_t dash = header.find('-');
  if (dash == std::string_view::npos) return whole;
  const std::string_view before = header.substr(0, dash);
  const std::string_view behind = header.substr(dash + 1);
  const auto last = parse_position(behind);
  if (before.empty()) {  // the last so many
    if (!last) return whole;
    const std::uint64_t length = std::min(*last, size);
    if (length == 0) return none;
    return {ByteRange::Kind::part, size - length, length};
  }
  const auto first = parse_position(before);
  if (!first || (!behind.empty() && (!last || *last < *first))) return whole;
  if (*first >= size) return none;
  const std::uint64_t end = last ? std::min(*last, size - 1) : size - 1;
  return {ByteRange::Kind::part, *first, end - *first + 1};
}

bool names_tag(std::string_view header, const std::string& tag) {
  if (header == "*") return true;
  return header.find(tag) != std::string_view::npos;  // which has its quotes
}

}  // namespace wardcase::supervisor
