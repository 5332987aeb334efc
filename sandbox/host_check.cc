// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/host_check.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "policies/limits.h"
#include "sandbox/cgroup.h"
#include "sandbox/host_probe.h"
#include "sandbox/landlock.h"
#include "sandbox/state_lock.h"
#include "sandbox/sys/files.h"

namespace wardcase::sandbox {

namespace {

std::string error_text(int error) { return sys::Error{error, ""}.message().substr(2); }

// A setting of the kernel, as text without its line break; "" where there is none.
std::string setting(const char* path) {
  const auto text = sys::read_file(AT_FDCWD, path);
  if (!text) return "";
  return text->substr(0, text->find('\n'));
}

bool is_filtered_from_outside() {
  const auto status = sys::read_file(AT_FDCWD, "/proc/self/status");
  return status && status->find("\nSeccomp:\t2") != std::string::npos;
}

bool is_proc_covered() {
  const auto mounts = sys::read_file(AT_FDCWD, "/proc/self/mountinfo");
  return mounts && mounts->find(" /proc/") != std::string::npos;
}

HostCheck check_kernel() {
  utsname system = {};
  (void)::uname(&system);  // fails only on a bad address
  int major = 0;
  int minor = 0;
  (void)std::sscanf(system.release, "%d.%d", &major, &minor);  // 0.0 where it reads otherwise
  const auto is_before = [&](int wanted_major, int wanted_minor) {
    return major < wanted_major || (major == wanted_major && minor < wanted_minor);
  };
  HostCheck check = {"kernel", CheckState::ok, std::string("Linux ") + system.release, ""};
  if (is_before(5, 14)) {
    check.state = CheckState::fail;
    check.fix = "boot a kernel of 5.14 or later";
  } else if (is_before(5, 19)) {
    check.state = CheckState::warn;
    check.detail += ": system call reports can be interrupted, memory peaks are not known";
    check.fix = "boot a kernel of 5.19 or later";
  }
  return check;
}

// Who forbids user namespaces, as far as that can be seen from here.
HostCheck explain_namespaces(HostCheck check) {
  if (setting("/proc/sys/user/max_user_namespaces") == "0") {
    check.detail += ": the host allows no user namespaces";
    check.fix = "sysctl -w user.max_user_namespaces=10000";
  } else if (setting("/proc/sys/kernel/unprivileged_userns_clone") == "0") {
    check.detail += ": the host allows user namespaces to root only";
    check.fix = "sysctl -w kernel.unprivileged_userns_clone=1";
  } else if (setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1") {
    check.detail += ": AppArmor allows user namespaces only to programs with a profile";
    check.fix =
        "install the package, whose profile covers /usr/bin/wardcase (a binary elsewhere stays "
        "blocked), or sysctl -w kernel.apparmor_restrict_unprivileged_userns=0";
  } else if (is_filtered_from_outside()) {
    check.detail +=
        ": a system call filter around us forbids it (a container, RestrictNamespaces=)";
    check.fix =
        "docker run --security-opt seccomp=unconfined --security-opt systempaths=unconfined; "
        "in a unit: no RestrictNamespaces=";
  } else {
    check.fix = "run outside of chroots and nested sandboxes, or as root";
  }
  return check;
}

HostCheck explain_proc(HostCheck check) {
  if (is_proc_covered()) {
    check.detail += ": parts of /proc are covered, so the kernel gives no fresh one";
    check.fix =
        "docker run --security-opt systempaths=unconfined; podman run --security-opt "
        "unmask=ALL; Kubernetes: procMount: Unmasked; in a unit: no ProtectKernelTunables= and "
        "ProtectKernelLogs=";
  }
  return check;
}

struct StepText {
  ProbeStep step;
  const char* name;
  const char* works;
  CheckState failed;
  HostCheck (*explain)(HostCheck);  // nullptr: the errno says it all
};

HostCheck explain_filter(HostCheck check) {
  check.fix = "boot a kernel with CONFIG_SECCOMP_FILTER";
  return check;
}

HostCheck explain_listener(HostCheck check) {
  if (is_filtered_from_outside()) {
    check.detail += ": a sandbox around us listens already";
  }
  check.detail += "; refused system calls are refused all the same, but not told by name";
  return check;
}

HostCheck explain_pivot(HostCheck check) {
  check.detail += ": the root is the initial one; chroot is used in its place";
  return check;
}

HostCheck explain_mount_ids(HostCheck check) {
  check.detail += ": mounts of directories that only their owner may enter will fail";
  check.fix = "use a root file system that supports it (ext4, xfs, btrfs, tmpfs from 6.3)";
  return check;
}

constexpr StepText kSteps[] = {
    {ProbeStep::create_namespaces, "namespaces", "user, mount, pid, network, ipc and uts",
     CheckState::fail, explain_namespaces},
    {ProbeStep::map_ids, "id maps", "written and read back", CheckState::fail, explain_namespaces},
    {ProbeStep::private_mounts, "private mounts", "mounts of a box stay its own", CheckState::fail,
     explain_namespaces},
    {ProbeStep::make_tmpfs, "tmpfs", "made inside", CheckState::fail, explain_namespaces},
    {ProbeStep::make_proc, "proc", "a fresh one inside", CheckState::fail, explain_proc},
    {ProbeStep::attach_tmpfs, "move_mount", "a new root attached", CheckState::fail, nullptr},
    {ProbeStep::pivot_root, "pivot_root", "entered, the old root gone", CheckState::warn,
     explain_pivot},
    {ProbeStep::load_filter, "seccomp", "a filter loaded", CheckState::fail, explain_filter},
    {ProbeStep::make_listener, "seccomp reports", "a listener made", CheckState::warn,
     explain_listener},
    {ProbeStep::map_mount_ids, "id-mapped mounts", "on the root file system", CheckState::warn,
     explain_mount_ids},
};

void check_box(std::vector<HostCheck>& checks) {
  const auto errors = probe_box();
  if (!errors) {
    checks.push_back({"probe", CheckState::fail, errors.error().message(), ""});
    return;
  }
  for (const StepText& text : kSteps) {
    const std::optional<int> error = errors->of(text.step);
    if (!error) continue;
    HostCheck check = {text.name, CheckState::ok, text.works, ""};
    if (*error != 0) {
      check.state = text.failed;
      check.detail = error_text(*error);
      if (text.explain != nullptr) check = text.explain(std::move(check));
    }
    checks.push_back(std::move(check));
  }
}

HostCheck check_landlock() {
  const int abi = landlock_abi();
  HostCheck check = {"landlock", CheckState::ok, "ABI " + std::to_string(abi), ""};
  if (abi >= 2) return check;
  check.state = CheckState::warn;
  if (abi <= 0) check.detail = "not there";
  check.detail += ": boxes go without this extra layer";
  check.fix = "boot a kernel of 5.19 or later with landlock in its lsm= list";
  return check;
}

// Leaves are removed in a moment, but not always at once.
bool remove_leaf(Cgroup& leaf) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    const auto removed = leaf.remove();
    if (removed) return true;
    if (removed.error().code != EBUSY) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

std::string_view holder_name(Enforcement enforcement) {
  switch (enforcement) {
    case Enforcement::cgroup1:
      return "v1";
    case Enforcement::cgroup2:
      return "v2";
    default:
      return "none";
  }
}

// The controllers mostly fail for one reason: the first to be named stands for all.
std::string first_reason(const std::string& why) { return why.substr(0, why.find("; ")); }

HostCheck describe_leaf(Cgroup& leaf, const std::string& parent, const std::string& why) {
  HostCheck check = {"control groups", CheckState::ok, "", ""};
  const std::pair<std::string_view, Enforcement> holders[] = {
      {"memory ", leaf.memory()}, {"pids ", leaf.pids()}, {"cpus ", leaf.cpus()}};
  for (const auto& [name, holder] : holders) {
    check.detail += std::string(name) + std::string(holder_name(holder)) + ", ";
    if (holder == Enforcement::none) check.state = CheckState::warn;
  }
  check.detail += leaf.can_kill() ? "kill at once" : "kill by init alone";
  check.detail += ", in '" + parent + "'";
  if (check.state == CheckState::warn && !why.empty()) check.detail += "; " + first_reason(why);
  if (!remove_leaf(leaf)) {
    check.state = CheckState::warn;
    check.detail += "; the leaf could not be removed";
  }
  return check;
}

std::string cgroup_fix() {
  return ::geteuid() == 0 ? "mount the hierarchies writable (docker run --cgroupns=private with a "
                            "writable /sys/fs/cgroup)"
                          : "start from a delegated group: systemd-run --user --scope "
                            "-p Delegate=yes wardcase run ...";
}

// A real leaf under a real lock, so that a supervisor that starts now does not
// take it for a dead one's.
sys::Result<HostCheck> try_cgroups() {
  const auto host = CgroupHost::find();
  if (!host) return tl::unexpected(host.error());
  const auto directory = runtime_directory();
  if (!directory) return tl::unexpected(directory.error());
  auto lock = StateLock::acquire(*directory + "/locks", "doctor-" + std::to_string(::getpid()));
  if (!lock) return tl::unexpected(std::move(lock).error());
  std::string why;
  const CgroupLimits limits = {.memory_bytes = 64U << 20, .pids = 16, .millicpus = 1000};
  auto leaf = host->create(lock->name() + ".leaf", limits, &why);
  if (!leaf) return tl::unexpected(std::move(leaf).error());
  if (*leaf == nullptr)
    return tl::unexpected(sys::plain_error("none can be used: " + first_reason(why)));
  return describe_leaf(**leaf, host->hierarchies().front().parent(), why);
}

HostCheck check_cgroups() {
  auto tried = try_cgroups();
  HostCheck check =
      tried ? *std::move(tried)
            : HostCheck{"control groups", CheckState::warn,
                        tried.error().message() + "; memory and processes are only watched", ""};
  if (check.state != CheckState::ok) check.fix = cgroup_fix();
  return check;
}

HostCheck check_open_files() {
  rlimit limit = {};
  (void)::getrlimit(RLIMIT_NOFILE, &limit);  // fails only on a bad address
  const auto wanted = *policies::limit_row(policies::LimitId::open_files).standard;
  HostCheck check = {"open files", CheckState::ok,
                     "at most " + std::to_string(limit.rlim_max) + " a process", ""};
  if (limit.rlim_max < wanted) {
    check.state = CheckState::warn;
    check.detail += ": programs get no more";
    check.fix = "ulimit -Hn " + std::to_string(wanted) + ", or LimitNOFILE= in the unit";
  }
  return check;
}

}  // namespace

std::vector<HostCheck> check_host() {
  std::vector<HostCheck> checks = {check_kernel()};
  check_box(checks);
  checks.push_back(check_landlock());
  checks.push_back(check_cgroups());
  checks.push_back(check_open_files());
  return checks;
}

}  // namespace wardcase::sandbox
