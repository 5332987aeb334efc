// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/request_target.h"

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

bool matches(std::string_view path, std::string_view pattern, std::string_view& id) {
  constexpr std::string_view kId = "{id}";
  const std::size_t at = pattern.find(kId);
  if (at == std::string_view::npos) return path == pattern;
  const std::string_view before = pattern.substr(0, at);
  const std::string_view after = pattern.substr(at + kId.size());
  if (path.size() <= before.size() + after.size()) return false;
  if (!path.starts_with(before) || !path.ends_with(after)) return false;
  const std::string_view segment =
      path.substr(before.size(), path.size() - before.size() - after.size());
  if (segment.find('/') != std::string_view::npos) return false;
  id = segment;
  return true;
}

}  // namespace wardcase::supervisor
