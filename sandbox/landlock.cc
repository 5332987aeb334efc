// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/landlock.h"

#include <algorithm>
#include <cerrno>

#include "sandbox/sys/kernel.h"

namespace wardcase::sandbox {
namespace {

constexpr std::uint64_t kRead =
    LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_EXECUTE;

// What a rule on a file, not a directory, may name.
constexpr std::uint64_t kFile = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                                LANDLOCK_ACCESS_FS_EXECUTE | sys::kLandlockTruncate;

// Everything that ABI 2 or 3 can govern. Later rights (device ioctls) stay
// unhandled: terminals need them, and the filter refuses the dangerous ones.
std::uint64_t all_rights(int abi) { return (1ULL << (abi >= 3 ? 15 : 14)) - 1; }

std::size_t attribute_size(int abi) {
  if (abi >= 6) return sizeof(sys::LandlockRuleset);
  return abi >= 4 ? offsetof(sys::LandlockRuleset, scoped)
                  : offsetof(sys::LandlockRuleset, handled_access_net);
}

}  // namespace

sys::Result<int> landlock_abi() {
  const int abi = sys::landlock_create_ruleset(nullptr, 0, sys::kLandlockVersion);
  if (abi >= 0) return abi;
  // Not built in, not enabled at boot, or hidden by a filter around us: landlock(7).
  if (errno == ENOSYS || errno == EOPNOTSUPP || errno == EPERM) return 0;
  return tl::unexpected(sys::errno_error("ask for Landlock"));
}

void put_landlock_into(PlanBuilder& plan, const LaunchRequest& request,
                       const std::vector<LayoutBind>& binds, bool has_program_directory) {
  const int abi = request.landlock_abi;
  if (abi < kLowestLandlockAbi) return;
  const std::uint64_t all = all_rights(abi);
  plan.header.use_landlock = true;
  plan.header.landlock_handled = all;
  plan.header.landlock_size = attribute_size(abi);
  if (abi >= 6) {
    plan.header.landlock_scoped = sys::kLandlockScopeAbstractSocket | sys::kLandlockScopeSignal;
  }
  std::vector<PlanPathRule> rules;
  const auto allow = [&](std::string_view path, std::uint64_t access) {
    rules.push_back({plan.text(path), 0, access & all});
  };
  // Rights add up along a path: what "/" has, everything below has too.
  constexpr std::uint64_t kExecute = LANDLOCK_ACCESS_FS_EXECUTE;
  const std::uint64_t withheld = request.execute_writable ? 0 : kExecute;
  const std::uint64_t writable = all & ~withheld;
  allow("/", kRead & ~withheld);
  for (const std::string_view path : {"/dev", "/proc"}) {  // else > /dev/null fails
    allow(path, (kRead & ~withheld) | LANDLOCK_ACCESS_FS_WRITE_FILE | sys::kLandlockTruncate);
  }
  for (const std::string_view path :
       {kWorkDirectory, std::string_view("/tmp"), kHomeDirectory, std::string_view("/dev/shm")}) {
    allow(path, writable);
  }
  if (has_program_directory) allow(kProgramDirectory, writable);
  for (const LayoutBind& bind : binds) {
    if (bind.mode == policies::MountMode::read_write) {
      allow(bind.target, (bind.is_directory ? all : kFile) & ~withheld);
    } else if (withheld != 0) {
      allow(bind.target, kExecute);
    }
  }
  plan.header.path_rules = plan.list(rules);
}

}  // namespace wardcase::sandbox
