// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/landlock.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "sandbox/sys/files.h"
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
    rules.push_back({plan.text(path), /*opened=*/-1, access & all});
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

namespace {

// What the namespaced box makes itself, and what is of no harm in the host's.
constexpr const char* kReadable[] = {
    "/proc",           "/etc/passwd",        "/etc/group",
    "/etc/hosts",      "/etc/nsswitch.conf", "/etc/localtime",
    "/etc/os-release", "/etc/hostname",      "/sys/devices/system/cpu"};

// Opens what rules are about, so that they hold for what was looked at.
class HostRules {
 public:
  HostRules(PlanBuilder& plan, FdTable& fds, std::uint64_t all)
      : plan_(plan), fds_(fds), all_(all) {}

  // `looked_at`: it must still be that one.
  sys::Status allow(const std::string& path, std::uint64_t access,
                    const std::optional<FileIdentity>& looked_at = std::nullopt) {
    auto opened = sys::open_at(AT_FDCWD, path.c_str(), O_PATH);
    if (!opened) return tl::unexpected(std::move(opened).error());
    struct stat found = {};
    if (::fstat(opened->get(), &found) < 0) {
      return tl::unexpected(sys::errno_error("look at '" + path + "'"));
    }
    if (looked_at && (looked_at->device != found.st_dev || looked_at->inode != found.st_ino)) {
      return tl::unexpected(sys::Error{ESTALE, "look at '" + path + "' again"});
    }
    const std::uint64_t possible = S_ISDIR(found.st_mode) ? all_ : kFile & all_;
    rules_.push_back({plan_.text(path), fds_.own(*std::move(opened)), access & possible});
    return {};
  }
  sys::Status allow_if_there(const std::string& path, std::uint64_t access) {
    auto allowed = allow(path, access);
    if (allowed) return allowed;
    const int error = allowed.error().code;
    return error == ENOENT || error == ENOTDIR || error == EACCES ? sys::Status() : allowed;
  }
  [[nodiscard]] Slice put() const { return plan_.list(rules_); }

 private:
  PlanBuilder& plan_;
  FdTable& fds_;
  std::uint64_t all_;
  std::vector<PlanPathRule> rules_;
};

// A device is there to be read and written to, and nothing is executed.
std::uint64_t access_to(const LayoutBind& bind, std::uint64_t all, std::uint64_t withheld) {
  if (bind.kind == LayoutKind::device) {
    return LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | sys::kLandlockTruncate;
  }
  return bind.mode == policies::MountMode::read_write ? all & ~withheld : kRead;
}

}  // namespace

sys::Status put_host_rules_into(PlanBuilder& plan, FdTable& fds, const LaunchRequest& request,
                                const std::vector<LayoutBind>& binds) {
  const int abi = request.landlock_abi;
  const std::uint64_t all = all_rights(abi);
  LaunchPlan& header = plan.header;
  header.use_landlock = true;
  header.landlock_handled = all;
  header.landlock_size = attribute_size(abi);
  if (abi >= kLandlockNetworkAbi && request.network == policies::Network::none) {
    header.landlock_net = sys::kLandlockBindTcp | sys::kLandlockConnectTcp;
  }
  if (abi >= kLandlockScopeAbi) {
    header.landlock_scoped = sys::kLandlockScopeAbstractSocket | sys::kLandlockScopeSignal;
    header.confine_signals = true;
  }
  const std::uint64_t withheld = request.execute_writable ? 0 : LANDLOCK_ACCESS_FS_EXECUTE;
  HostRules rules(plan, fds, all);
  auto allowed = rules.allow(request.private_path, all & ~withheld);
  for (const LayoutBind& bind : binds) {
    if (!allowed) break;
    // A shared mapping of it is memory that no watcher sees: there is no other to put in its place.
    if (request.unmappable_zero && bind.target == "/dev/zero") continue;
    allowed = rules.allow(bind.source, access_to(bind, all, withheld), bind.looked_at);
  }
  for (const char* path : kReadable) {
    if (allowed) allowed = rules.allow_if_there(path, kRead & ~LANDLOCK_ACCESS_FS_EXECUTE);
  }
  header.path_rules = rules.put();
  return allowed;
}

}  // namespace wardcase::sandbox
