// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <algorithm>

#include "supervisor/run/preparation.h"

namespace wardcase::supervisor {
namespace {

// What a user mounts at or above a target is shown there, and nothing of ours.
bool is_covered(const std::string& target, const std::vector<policies::Mount>& mounts) {
  return std::any_of(mounts.begin(), mounts.end(), [&](const policies::Mount& mount) {
    return target == mount.target || target.rfind(mount.target + "/", 0) == 0;
  });
}

}  // namespace

std::vector<std::string> path_directories(const std::vector<std::string>& environment) {
  constexpr std::string_view kName = "PATH=";
  std::string_view path = kBoxPath;
  for (const std::string& entry : environment) {
    if (entry.compare(0, kName.size(), kName) == 0)
      path = std::string_view(entry).substr(kName.size());
  }
  std::vector<std::string> directories;
  while (!path.empty()) {
    const std::size_t colon = std::min(path.find(':'), path.size());
    if (colon > 0) directories.emplace_back(path.substr(0, colon));
    path.remove_prefix(std::min(colon + 1, path.size()));
  }
  return directories;
}

std::vector<sandbox::BindRequest> binds_of(const RunSpec& spec) {
  std::vector<sandbox::BindRequest> binds;
  for (const policies::Mount& mount : spec.system_mounts) {
    if (is_covered(mount.target, spec.mounts)) continue;
    binds.push_back({mount.source, mount.target, mount.mode, sandbox::BindKind::system});
  }
  for (const policies::Mount& mount : spec.mounts) {
    binds.push_back({mount.source, mount.target, mount.mode, sandbox::BindKind::user});
  }
  return binds;
}

}  // namespace wardcase::supervisor
