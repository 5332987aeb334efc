// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <sys/stat.h>

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

// What the source of the mount at `target` has to be; nullopt: what its path means.
std::optional<sandbox::FileIdentity> held_identity(const RunSpec& spec, const std::string& target) {
  const auto found = std::ranges::find(spec.held_sources, target, &RunSpec::HeldSource::target);
  if (found == spec.held_sources.end()) return std::nullopt;
  struct stat info = {};
  (void)::fstat(found->held->get(), &info);  // where it fails, no file is what is left
  return sandbox::FileIdentity{info.st_dev, info.st_ino};
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
    binds.push_back({mount.source, mount.target, mount.mode, sandbox::BindKind::user,
                     held_identity(spec, mount.target)});
  }
  return binds;
}

}  // namespace wardcase::supervisor
