// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/subordinate_ids.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "sandbox/sys/files.h"

namespace wardcase::sandbox {
namespace {

std::optional<std::uint32_t> parse_number(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// One past the last; ids have 32 bits, their number may have more.
std::uint64_t end_of(const IdRange& range) { return std::uint64_t{range.first} + range.count; }

}  // namespace

std::vector<SubordinateIds> parse_subordinate_ids(std::string_view text) {
  std::vector<SubordinateIds> given;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const auto last = line.rfind(':');
    if (last == std::string_view::npos || last == 0) continue;
    const auto before = line.rfind(':', last - 1);
    if (before == std::string_view::npos) continue;
    const auto first = parse_number(line.substr(before + 1, last - before - 1));
    const auto count = parse_number(line.substr(last + 1));
    if (first && count) given.push_back({std::string(line.substr(0, before)), {*first, *count}});
  }
  return given;
}

std::vector<IdRange> ranges_of(std::span<const SubordinateIds> given, std::string_view name,
                               uid_t user) {
  std::vector<IdRange> ranges;
  for (const SubordinateIds& ids : given) {
    if ((!name.empty() && ids.owner == name) || ids.owner == std::to_string(user))
      ranges.push_back(ids.range);
  }
  return ranges;
}

std::optional<IdRange> find_common_range(std::span<const IdRange> some,
                                         std::span<const IdRange> others) {
  IdRange longest;
  for (const IdRange& one : some) {
    for (const IdRange& other : others) {
      const std::uint64_t first = std::max(one.first, other.first);
      const std::uint64_t end = std::min(end_of(one), end_of(other));
      if (end <= first || end - first <= longest.count) continue;
      longest = {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end - first)};
    }
  }
  if (longest.count == 0) return std::nullopt;
  return longest;
}

std::string find_user_name(std::string_view passwd, uid_t user) {
  while (!passwd.empty()) {
    const std::string_view line = passwd.substr(0, passwd.find('\n'));
    passwd.remove_prefix(std::min(passwd.size(), line.size() + 1));
    const auto name_end = line.find(':');
    if (name_end == std::string_view::npos) continue;
    const auto password_end = line.find(':', name_end + 1);
    if (password_end == std::string_view::npos) continue;
    const std::string_view rest = line.substr(password_end + 1);
    if (parse_number(rest.substr(0, rest.find(':'))) == user) {
      return std::string(line.substr(0, name_end));
    }
  }
  return "";
}

sys::Result<IdRange> read_subordinate_ids(uid_t user) {
  std::array<std::string, 3> texts;
  constexpr std::array kFiles = {"/etc/passwd", "/etc/subuid", "/etc/subgid"};
  for (std::size_t i = 0; i < kFiles.size(); ++i) {
    auto text = sys::read_file(AT_FDCWD, kFiles[i]);
    if (!text && text.error().code != ENOENT) return tl::unexpected(std::move(text).error());
    texts[i] = std::move(text).value_or("");
  }
  std::string name = find_user_name(texts[0], user);
  if (const char* own = std::getenv("USER");
      name.empty() && own != nullptr && user == ::geteuid()) {
    name = own;
  }
  const auto users = ranges_of(parse_subordinate_ids(texts[1]), name, user);
  const auto groups = ranges_of(parse_subordinate_ids(texts[2]), name, user);
  if (const auto ids = find_common_range(users, groups)) return *ids;
  if (name.empty()) name = std::to_string(user);
  return tl::unexpected(sys::plain_error(
      "/etc/subuid and /etc/subgid give '" + name +
      "' no range of ids in common; fix: usermod --add-subuids FIRST-LAST --add-subgids "
      "FIRST-LAST " +
      name));
}

}  // namespace wardcase::sandbox
