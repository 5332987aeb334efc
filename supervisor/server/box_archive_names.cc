// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <algorithm>

#include "supervisor/server/box_archive.h"

namespace wardcase::supervisor {

namespace {

constexpr std::size_t kLongestName = 4000;

// Calls `take` with each part that is not "" or "."; false from it ends this with false.
template <typename Take>
bool for_each_part(std::string_view path, Take take) {
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(path.size(), part.size() + 1));
    if (!part.empty() && part != "." && !take(part)) return false;
  }
  return true;
}

}  // namespace

std::optional<std::string> name_in_archive(std::string_view name) {
  if (name.starts_with('/') || name.size() > kLongestName) return std::nullopt;
  if (name.find('\0') != std::string_view::npos) return std::nullopt;
  std::string inside;
  const bool stays = for_each_part(name, [&](std::string_view part) {
    if (part == "..") return false;
    inside.append(inside.empty() ? "" : "/").append(part);
    return true;
  });
  if (!stays) return std::nullopt;
  return inside;
}

// By its words: what other links make of them on the way is for who follows it, which we do not.
bool stays_in_box(std::string_view place, std::string_view target) {
  if (target.empty() || target.starts_with('/')) return false;
  auto depth = std::ranges::count(place, '/');
  return for_each_part(target, [&](std::string_view part) {
    depth += part == ".." ? -1 : 1;
    return depth >= 0;
  });
}

}  // namespace wardcase::supervisor
