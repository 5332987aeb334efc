// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/request_terms.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <functional>

namespace wardcase::supervisor {

namespace {

constexpr std::size_t kLongestKey = 255;
constexpr std::size_t kTraceDigits = 32;
constexpr std::size_t kParentDigits = 16;

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return lower;
}

void for_each_part(std::string_view text, char separator,
                   const std::function<void(std::string_view part)>& with) {
  while (true) {
    const std::size_t end = text.find(separator);
    if (const auto part = trimmed(text.substr(0, end)); !part.empty()) with(part);
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

// In thousandths. What is not one counts as 1.
int weight_of(std::string_view range) {
  int weight = 1000;
  for_each_part(range, ';', [&](std::string_view part) {
    if (!part.starts_with("q=") && !part.starts_with("Q=")) return;
    part.remove_prefix(2);
    if (part.empty() || part.front() != '0') return;
    weight = 0;
    int unit = 100;
    for (const char digit : part.substr(std::min<std::size_t>(2, part.size()))) {
      if (digit < '0' || digit > '9') break;
      weight += (digit - '0') * unit;
      unit /= 10;
    }
  });
  return weight;
}

std::optional<AnswerKind> kind_of(const std::string& media, std::span<const AnswerKind> offered) {
  if (media == "*/*") return offered.front();
  for (const AnswerKind kind : offered) {
    const std::string_view type = media_type_of(kind);
    if (media == type) return kind;
    if (media.ends_with("/*") && type.starts_with(media.substr(0, media.size() - 1))) return kind;
  }
  return std::nullopt;
}

bool are_hex_digits(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string random_digits(std::size_t count) {
  std::array<unsigned char, kTraceDigits / 2> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) < 0) bytes.fill(1);  // it has to be no secret
  std::string digits;
  for (const unsigned char byte : bytes) {
    digits += "0123456789abcdef"[byte >> 4U];
    digits += "0123456789abcdef"[byte & 15U];
  }
  digits.resize(count);
  return digits;
}

}  // namespace

std::string_view media_type_of(AnswerKind kind) {
  switch (kind) {
    case AnswerKind::ndjson:
      return "application/x-ndjson";
    case AnswerKind::sse:
      return "text/event-stream";
    case AnswerKind::json:
      break;
  }
  return "application/json";
}

std::optional<AnswerKind> choose_kind(const HttpRequest& request,
                                      std::span<const AnswerKind> offered) {
  std::optional<AnswerKind> best;
  int most = 0;
  bool is_said = false;
  for (const auto& [name, value] : request.headers) {
    if (name != "accept") continue;
    for_each_part(value, ',', [&](std::string_view range) {
      is_said = true;
      const int weight = weight_of(range);
      const auto kind = kind_of(lower_case(trimmed(range.substr(0, range.find(';')))), offered);
      if (!kind || weight <= most) return;
      best = kind;
      most = weight;
    });
  }
  if (!is_said) return offered.front();
  return best;
}

bool prefers_async(const HttpRequest& request) {
  bool is_async = false;
  for (const auto& [name, value] : request.headers) {
    if (name != "prefer") continue;
    for_each_part(value, ',', [&](std::string_view preference) {
      const auto token = trimmed(preference.substr(0, preference.find(';')));
      is_async = is_async || lower_case(token) == "respond-async";
    });
  }
  return is_async;
}

tl::expected<std::string, Problem> idempotency_key(const HttpRequest& request) {
  const std::string* const value = request.header("idempotency-key");
  if (value == nullptr) return std::string();
  std::string_view key = trimmed(*value);
  if (key.size() >= 2 && key.front() == '"' && key.back() == '"') {
    key = key.substr(1, key.size() - 2);
  }
  const bool is_printable =
      std::ranges::all_of(key, [](char letter) { return letter > ' ' && letter <= '~'; });
  if (is_printable && !key.empty() && key.size() <= kLongestKey) return std::string(key);
  return tl::unexpected(
      Problem{400, "invalid_header", "Idempotency-Key: write 1 to 255 printable letters of ASCII"});
}

// 00-TRACE-PARENT-FLAGS; later versions may have more behind it.
std::string trace_id(const HttpRequest& request) {
  const std::string* const value = request.header("traceparent");
  constexpr std::size_t kLength = 2 + 1 + kTraceDigits + 1 + kParentDigits + 1 + 2;
  if (value == nullptr || value->size() < kLength || request.count("traceparent") > 1) return "";
  const std::string_view text = *value;
  const std::string_view version = text.substr(0, 2);
  const std::string_view trace = text.substr(3, kTraceDigits);
  const std::string_view parent = text.substr(4 + kTraceDigits, kParentDigits);
  const bool is_well_formed = are_hex_digits(version) && version != "ff" && are_hex_digits(trace) &&
                              are_hex_digits(parent) &&
                              are_hex_digits(text.substr(kLength - 2, 2)) && text[2] == '-' &&
                              text[3 + kTraceDigits] == '-' && text[kLength - 3] == '-' &&
                              (text.size() == kLength || (version != "00" && text[kLength] == '-'));
  const auto is_zero = [](std::string_view digits) {
    return digits.find_first_not_of('0') == std::string_view::npos;
  };
  if (!is_well_formed || is_zero(trace) || is_zero(parent)) return "";
  return std::string(trace);
}

std::string own_traceparent(const std::string& trace) {
  return "00-" + (trace.empty() ? random_digits(kTraceDigits) : trace) + "-" +
         random_digits(kParentDigits) + "-00";
}

}  // namespace wardcase::supervisor
