// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/planted_links.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "sandbox/sys/paths.h"

namespace wardcase::supervisor {

namespace fs = std::filesystem;

namespace {

constexpr int kMostLinks = 40;  // as the kernel (path_resolution(7))

// `path` has no links in it, as the sources of mounts have none.
bool can_be_written(const fs::path& path, std::span<const policies::Mount> mounts) {
  return std::ranges::any_of(mounts, [&](const policies::Mount& mount) {
    return mount.mode == policies::MountMode::read_write &&
           sys::is_at_or_below(path.native(), mount.source);
  });
}

}  // namespace

std::string planted_link(const std::string& path, std::span<const policies::Mount> mounts) {
  std::error_code error;
  const fs::path named(path);
  std::deque<fs::path> rest(named.begin(), named.end());
  fs::path at = fs::current_path(error);
  std::string planted;
  for (int links = 0; !rest.empty() && links <= kMostLinks;) {
    const fs::path name = rest.front();
    rest.pop_front();
    const fs::path next = (at / name).lexically_normal();
    if (!fs::is_symlink(fs::symlink_status(next, error))) {
      at = next.has_filename() ? next : next.parent_path();
      continue;
    }
    if (planted.empty() && can_be_written(at, mounts)) planted = next.string();
    const fs::path target = fs::read_symlink(next, error);
    rest.insert(rest.begin(), target.begin(), target.end());
    ++links;
  }
  return can_be_written(at, mounts) ? "" : planted;
}

}  // namespace wardcase::supervisor
