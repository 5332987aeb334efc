// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "policies/units.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>

namespace wardcase::policies {
namespace {

struct Suffix {
  std::string_view text;
  std::uint64_t scale;
};

// How one kind of value is written, and the words for what is wrong with it.
struct Grammar {
  std::span<const Suffix> suffixes;
  bool any_case;   // 64m is 64M, but 2M is no time
  bool fractions;  // 1.5 is accepted
  std::uint64_t least;
  std::uint64_t most;  // far above any use, far below what could overflow
  std::string_view expected;
  std::string_view least_text;
  std::string_view most_text;
};

constexpr std::uint64_t kSecond = 1000;
constexpr std::uint64_t kHour = 3600 * kSecond;
constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;
constexpr std::uint64_t kGiB = 1024 * kMiB;

constexpr Suffix kTimeSuffixes[] = {
    {"", kSecond}, {"ms", 1}, {"s", kSecond}, {"m", 60 * kSecond}, {"h", kHour}};
constexpr Suffix kSizeSuffixes[] = {{"", 1},       {"b", 1},     {"k", kKiB},  {"kb", kKiB},
                                    {"kib", kKiB}, {"m", kMiB},  {"mb", kMiB}, {"mib", kMiB},
                                    {"g", kGiB},   {"gb", kGiB}, {"gib", kGiB}};
constexpr Suffix kCountSuffixes[] = {{"", 1}};
constexpr Suffix kProcessorSuffixes[] = {{"", 1000}};

constexpr Grammar kTime = {
    kTimeSuffixes, false,   true, 1, 87600 * kHour, "a time; write 500ms, 10s or 2m",
    "1ms",         "87600h"};
constexpr Grammar kSize = {kSizeSuffixes,
                           true,
                           true,
                           1,
                           std::uint64_t{1} << 62,
                           "a size; write 65536, 64k, 64m or 1g",
                           "1 byte",
                           "4294967296g"};
constexpr Grammar kCount = {
    kCountSuffixes,       false, false, 1, std::uint64_t{1} << 62, "a whole number", "1",
    "4611686018427387904"};
constexpr Grammar kProcessors = {kProcessorSuffixes,
                                 false,
                                 true,
                                 10,
                                 1'000'000'000,
                                 "a number of processors; write 2 or 0.5",
                                 "0.01",
                                 "1000000"};

// DIGITS, or DIGITS.DIGITS, and what follows.
struct Number {
  std::uint64_t whole = 0;  // the largest value where the digits say more
  std::uint64_t fraction = 0;
  std::uint64_t fraction_scale = 1;
  std::string_view rest;
};

// So many digits that fraction x scale stays below 2^64 with the largest scale.
constexpr std::size_t kMaxFractionDigits = 9;

std::string_view leading_digits(std::string_view text) {
  return text.substr(0, std::min(text.find_first_not_of("0123456789"), text.size()));
}

std::uint64_t read_digits(std::string_view digits) {
  std::uint64_t value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return read.ec == std::errc{} ? value : std::numeric_limits<std::uint64_t>::max();
}

std::optional<Number> read_number(std::string_view text) {
  Number number;
  const std::string_view whole = leading_digits(text);
  if (whole.empty()) return std::nullopt;
  number.whole = read_digits(whole);
  number.rest = text.substr(whole.size());
  if (!number.rest.starts_with('.')) return number;

  const std::string_view fraction = leading_digits(number.rest.substr(1));
  if (fraction.empty() || fraction.size() > kMaxFractionDigits) return std::nullopt;
  number.fraction = read_digits(fraction);
  for (std::size_t i = 0; i < fraction.size(); ++i) number.fraction_scale *= 10;
  number.rest.remove_prefix(1 + fraction.size());
  return number;
}

char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_suffix(std::string_view text, std::string_view suffix, bool any_case) {
  return std::ranges::equal(text, suffix, [any_case](char given, char wanted) {
    return (any_case ? to_lower(given) : given) == wanted;
  });
}

tl::unexpected<sys::Error> refused(std::string_view text, std::string_view because,
                                   std::string_view detail) {
  std::string what = "'";
  what.append(text).append("': ").append(because).append(detail);
  return tl::unexpected(sys::plain_error(what));
}

sys::Result<std::uint64_t> parse(std::string_view text, const Grammar& grammar) {
  const std::optional<Number> number = read_number(text);
  if (!number || (number->fraction_scale > 1 && !grammar.fractions)) {
    return refused(text, "not ", grammar.expected);
  }
  const auto suffix = std::ranges::find_if(grammar.suffixes, [&](const Suffix& candidate) {
    return is_suffix(number->rest, candidate.text, grammar.any_case);
  });
  if (suffix == grammar.suffixes.end()) return refused(text, "not ", grammar.expected);

  if (number->whole > grammar.most / suffix->scale) {
    return refused(text, "too large; the most is ", grammar.most_text);
  }
  const std::uint64_t value =
      number->whole * suffix->scale + number->fraction * suffix->scale / number->fraction_scale;
  if (value > grammar.most) return refused(text, "too large; the most is ", grammar.most_text);
  if (value < grammar.least) return refused(text, "too small; the least is ", grammar.least_text);
  return value;
}

// Thousandths as a decimal number without needless zeros: 1500 -> "1.5".
std::string format_thousandths(std::uint64_t value) {
  std::string text = std::to_string(value / 1000);
  if (value % 1000 == 0) return text;
  std::string fraction = std::to_string(1000 + value % 1000);
  fraction.front() = '.';  // the 1 kept the leading zeros
  fraction.erase(fraction.find_last_not_of('0') + 1);
  return text + fraction;
}

}  // namespace

sys::Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  return parse(text, kTime).map([](std::uint64_t value) {
    return std::chrono::milliseconds(static_cast<std::chrono::milliseconds::rep>(value));
  });
}

sys::Result<std::uint64_t> parse_size(std::string_view text) { return parse(text, kSize); }

sys::Result<std::uint64_t> parse_count(std::string_view text) { return parse(text, kCount); }

sys::Result<std::uint64_t> parse_millicpus(std::string_view text) {
  return parse(text, kProcessors);
}

std::string format_duration(std::chrono::milliseconds value) {
  const auto milliseconds = value.count();
  if (milliseconds < 1000) return std::to_string(milliseconds) + "ms";
  return format_thousandths(static_cast<std::uint64_t>(milliseconds)) + "s";
}

std::string format_size(std::uint64_t bytes) {
  if (bytes < kKiB) return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");

  constexpr std::string_view kNames[] = {" KiB", " MiB", " GiB", " TiB"};
  std::size_t name = 0;
  std::uint64_t unit = kKiB;
  while (name + 1 < std::size(kNames) && bytes / unit >= 1024) {
    unit *= 1024;
    ++name;
  }
  std::uint64_t whole = bytes / unit;
  std::uint64_t tenths = (bytes % unit * 10 + unit / 2) / unit;
  if (tenths == 10) {
    ++whole;
    tenths = 0;
  }
  if (whole == 1024 && name + 1 < std::size(kNames)) {  // 1023.96 KiB reads "1 MiB"
    whole = 1;
    ++name;
  }
  std::string text = std::to_string(whole);
  if (tenths != 0) text.append(".").append(std::to_string(tenths));
  return text.append(kNames[name]);
}

std::string format_millicpus(std::uint64_t millicpus) { return format_thousandths(millicpus); }

}  // namespace wardcase::policies
