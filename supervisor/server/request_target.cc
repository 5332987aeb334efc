// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/request_target.h"

#include <charconv>
#include <system_error>

namespace wardcase::supervisor {

std::string_view path_of(std::string_view target) {
  if (!target.starts_with('/')) {
    const std::size_t authority = target.find("://");
    if (authority == std::string_view::npos) return target;
    target.remove_prefix(authority + 3);
    const std::size_t path = target.find('/');
    if (path == std::string_view::npos) return "/";
    target.remove_prefix(path);
  }
  return target.substr(0, target.find('?'));
}

std::optional<std::string_view> parameter_of(std::string_view target, std::string_view name) {
  const std::size_t query = target.find('?');
  if (query == std::string_view::npos) return std::nullopt;
  for (std::string_view rest = target.substr(query + 1); !rest.empty();) {
    const std::size_t end = rest.find('&');
    const std::string_view each = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    const std::size_t equals = each.find('=');
    if (each.substr(0, equals) != name) continue;
    return equals == std::string_view::npos ? std::string_view() : each.substr(equals + 1);
  }
  return std::nullopt;
}

bool matches(std::string_view path, std::string_view pattern, std::string_view& id,
             std::string_view& rest) {
  constexpr std::string_view kId = "{id}";
  constexpr std::string_view kRest = "{path}";
  const std::size_t at = pattern.find(kId);
  if (at == std::string_view::npos) return path == pattern;
  const std::string_view before = pattern.substr(0, at);
  std::string_view after = pattern.substr(at + kId.size());
  if (!path.starts_with(before)) return false;
  path.remove_prefix(before.size());
  const std::string_view segment = path.substr(0, path.find('/'));
  path.remove_prefix(segment.size());
  if (segment.empty()) return false;
  if (after.ends_with(kRest)) {
    after.remove_suffix(kRest.size());
    if (!path.starts_with(after) || path.size() == after.size()) return false;
    rest = path.substr(after.size());
  } else if (path != after) {
    return false;
  }
  id = segment;
  return true;
}

std::optional<std::string> percent_decode(std::string_view text) {
  std::string decoded;
  while (!text.empty()) {
    if (text.front() != '%') {
      decoded += text.front();
      text.remove_prefix(1);
      continue;
    }
    unsigned value = 0;
    const std::string_view digits = text.substr(1, 2);
    const char* const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value, /*base=*/16);
    if (digits.size() < 2 || error != std::errc() || stop != end) return std::nullopt;
    decoded += static_cast<char>(value);
    text.remove_prefix(3);
  }
  return decoded;
}

}  // namespace wardcase::supervisor
