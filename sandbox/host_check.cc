// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/host_check.h"

#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

#include "policies/limits.h"
#include "sandbox/landlock.h"

namespace wardcase::sandbox {

namespace {

std::string error_text(int error) { return sys::Error{error, ""}.message().substr(2); }

HostCheck check_kernel(const HostFacts& facts) {
  int major = 0;
  int minor = 0;
  (void)std::sscanf(facts.kernel_release.c_str(), "%d.%d", &major,
                    &minor);  // 0.0 where it reads otherwise
  const auto is_before = [&](int wanted_major, int wanted_minor) {
    return major < wanted_major || (major == wanted_major && minor < wanted_minor);
  };
  HostCheck check = {"kernel", CheckState::ok, "Linux " + facts.kernel_release, ""};
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

HostCheck explained(HostCheck check, const Explanation& why, const Restrictions& around) {
  if (!why.cause.empty()) check.detail += ": " + why.cause;
  check.fix = why.fix;
  if (const std::string weaker = weaker_way(around); !weaker.empty()) {
    check.fix += "; without that, " + weaker;
  }
  return check;
}

// Who forbids user namespaces, as far as that can be seen from here.
HostCheck explain_lack_of_namespaces(HostCheck check, const HostFacts& facts, int error) {
  return explained(std::move(check), explain_namespaces(facts, error), facts);
}

HostCheck explain_lack_of_proc(HostCheck check, const HostFacts& facts, int) {
  return explained(std::move(check), explain_proc(facts), facts);
}

struct StepText {
  ProbeStep step;
  const char* name;
  const char* works;
  CheckState failed;
  HostCheck (*explain)(HostCheck, const HostFacts&, int error);
};

HostCheck explain_filter(HostCheck check, const HostFacts&, int) {
  check.fix = "boot a kernel with CONFIG_SECCOMP_FILTER";
  return check;
}

HostCheck explain_mount_calls(HostCheck check, const HostFacts& facts, int) {
  check.fix = facts.is_filtered ? "let the system call filter around us pass move_mount"
                                : "boot a kernel of 5.14 or later";
  return check;
}

HostCheck explain_listener(HostCheck check, const HostFacts& facts, int) {
  if (facts.is_filtered) {
    check.detail += ": a sandbox around us listens already";
  }
  check.detail += "; refused system calls are refused all the same, but not told by name";
  check.fix = facts.is_filtered ? "run outside of the other sandbox"
                                : "boot a kernel of 5.0 or later with CONFIG_SECCOMP_FILTER";
  return check;
}

HostCheck explain_pivot(HostCheck check, const HostFacts&, int) {
  check.detail += ": the root is the initial one; chroot is used in its place";
  check.fix = "boot with a root file system that is not the initramfs";
  return check;
}

HostCheck explain_mount_ids(HostCheck check, const HostFacts&, int) {
  check.detail += ": mounts of directories that only their owner may enter will fail";
  check.fix = "use a root file system that supports it (ext4, xfs, btrfs, tmpfs from 6.3)";
  return check;
}

constexpr StepText kSteps[] = {
    {ProbeStep::create_namespaces, "namespaces", "user, mount, pid, network, ipc and uts",
     CheckState::fail, explain_lack_of_namespaces},
    {ProbeStep::map_ids, "id maps", "written and read back", CheckState::fail,
     explain_lack_of_namespaces},
    {ProbeStep::private_mounts, "private mounts", "mounts of a box stay its own", CheckState::fail,
     explain_lack_of_namespaces},
    {ProbeStep::make_tmpfs, "tmpfs", "made inside", CheckState::fail, explain_lack_of_namespaces},
    {ProbeStep::make_proc, "proc", "a fresh one inside", CheckState::fail, explain_lack_of_proc},
    {ProbeStep::attach_tmpfs, "move_mount", "a new root attached", CheckState::fail,
     explain_mount_calls},
    {ProbeStep::pivot_root, "pivot_root", "entered, the old root gone", CheckState::warn,
     explain_pivot},
    {ProbeStep::load_filter, "seccomp", "a filter loaded", CheckState::fail, explain_filter},
    {ProbeStep::make_listener, "seccomp reports", "a listener made", CheckState::warn,
     explain_listener},
    {ProbeStep::map_mount_ids, "id-mapped mounts", "on the root file system", CheckState::warn,
     explain_mount_ids},
};

void check_box(const HostFacts& facts, std::vector<HostCheck>& checks) {
  const sys::Result<ProbeErrors>& errors = facts.probe;
  if (!errors) {
    checks.push_back({"probe", CheckState::fail, errors.error().message(),
                      "see that processes and pipes can be made (ulimit -u, ulimit -n)"});
    return;
  }
  for (const StepText& text : kSteps) {
    const std::optional<int> error = errors->of(text.step);
    if (!error) continue;
    HostCheck check = {text.name, CheckState::ok, text.works, ""};
    if (*error != 0) {
      check.state = text.failed;
      check.detail = error_text(*error);
      check = text.explain(std::move(check), facts, *error);
    }
    checks.push_back(std::move(check));
  }
}

HostCheck check_ids(const HostFacts& facts) {
  if (facts.can_choose_ids) return {"host ids", CheckState::ok, "one of its own for each box", ""};
  if (facts.pool_ids > 0) {
    return {"host ids", CheckState::ok,
            "one of its own for each box, of " + std::to_string(facts.pool_ids), ""};
  }
  if (facts.is_root) {
    return {"host ids", CheckState::warn,
            "boxes share our own: this root has no capabilities for ids and mounts",
            "run as root of the host, with all capabilities"};
  }
  if (facts.can_map_ids) {
    return {"host ids", CheckState::warn,
            "boxes share your own, but have one each where the policy demands it",
            "use a policy that does, as --policy multiuser; or have root do it once for all: "
            "wardcase-server make-ids USER"};
  }
  std::string detail =
      "boxes share your own, so that processes of two boxes are the host's same user; the "
      "policy multiuser runs nothing";
  if (!facts.pool_error.empty()) detail += " (" + facts.pool_error + ")";
  return {
      "host ids", CheckState::warn, std::move(detail),
      "run as root, or by the service (wardcased), which has ids of its own; or have root give you "
      "those that /etc/subuid and /etc/subgid have for you: wardcase-server make-ids USER"};
}

HostCheck check_landlock(const HostFacts& facts) {
  const int abi = facts.landlock_abi;
  HostCheck check = {"landlock", CheckState::ok, "ABI " + std::to_string(abi), ""};
  if (abi >= kLowestLandlockAbi) return check;
  check.state = CheckState::warn;
  if (abi <= 0) check.detail = "not there";
  check.detail += ": boxes go without this extra layer";
  check.fix = "boot a kernel of 5.19 or later with landlock in its lsm= list";
  return check;
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

// What helps depends on what is mounted: v1 can't be delegated, and v2 is by systemd.
std::string cgroup_fix(const HostFacts& facts) {
  const CgroupTrial& groups = facts.cgroups;
  if (!groups.has_hierarchies)
    return "mount the control groups: a cgroup2 file system at "
           "/sys/fs/cgroup";
  if (groups.why.find("not among the controllers") != std::string::npos) {
    return "have the group above give it: Delegate=yes in the unit, or +CONTROLLER in the "
           "cgroup.subtree_control above";
  }
  if (facts.is_root) {
    return "mount the hierarchies writable (docker run --cgroupns=private with a writable "
           "/sys/fs/cgroup)";
  }
  if (groups.has_v1_controllers) {
    return "run as root: control groups of version 1 are not given to users; or boot with "
           "systemd.unified_cgroup_hierarchy=1 for version 2";
  }
  if (facts.container != ContainerKind::none) {
    return "give the container a control group of its own that it can write to (podman run "
           "--cgroups=split with a writable /sys/fs/cgroup, writable_cgroups in a pod); its own "
           "limits hold for all boxes together";
  }
  if (!facts.has_user_manager) {
    return "log in by a session of systemd (as root: loginctl enable-linger USER), and start by "
           "systemd-run --user --scope -p Delegate=yes wardcase run ...; or run in a unit with "
           "Delegate=yes, or as root";
  }
  return "start from a delegated group: systemd-run --user --scope -p Delegate=yes wardcase run "
         "...";
}

HostCheck describe_leaf(const CgroupTrial& leaf) {
  HostCheck check = {"control groups", CheckState::ok, "", ""};
  const std::pair<std::string_view, Enforcement> holders[] = {
      {"memory ", leaf.memory}, {"pids ", leaf.pids}, {"cpus ", leaf.cpus}};
  for (const auto& [name, holder] : holders) {
    check.detail += std::string(name) + std::string(holder_name(holder)) + ", ";
    if (holder == Enforcement::none) check.state = CheckState::warn;
  }
  check.detail += leaf.can_kill ? "kill at once" : "kill by init alone";
  check.detail += ", in '" + leaf.parent + "'";
  if (check.state == CheckState::warn && !leaf.why.empty()) {
    check.detail += "; " + first_reason(leaf.why);
  }
  if (!leaf.was_removed) {
    check.state = CheckState::warn;
    check.detail += "; the leaf could not be removed";
  }
  return check;
}

HostCheck check_cgroups(const HostFacts& facts) {
  const CgroupTrial& groups = facts.cgroups;
  HostCheck check = describe_leaf(groups);
  if (!groups.error.empty()) {
    check.state = CheckState::warn;
    check.detail = groups.error;
    if (!groups.why.empty()) check.detail += ": " + first_reason(groups.why);
    check.detail += "; memory and processes are only watched";
  }
  if (check.state != CheckState::ok) check.fix = cgroup_fix(facts);
  if (facts.has_pressure) check.detail += "; the kernel measures pressure (PSI)";
  return check;
}

HostCheck check_open_files(const HostFacts& facts) {
  const auto wanted = *policies::limit_row(policies::LimitId::open_files).standard;
  HostCheck check = {"open files", CheckState::ok,
                     "at most " + std::to_string(facts.open_files) + " a process", ""};
  if (facts.open_files < wanted) {
    check.state = CheckState::warn;
    check.detail += ": programs get no more";
    check.fix = "ulimit -Hn " + std::to_string(wanted) + ", or LimitNOFILE= in the unit";
  }
  return check;
}

}  // namespace

std::vector<HostCheck> judge_host(const HostFacts& facts) {
  std::vector<HostCheck> checks = {check_kernel(facts)};
  check_box(facts, checks);
  checks.push_back(check_ids(facts));
  checks.push_back(check_landlock(facts));
  checks.push_back(check_cgroups(facts));
  checks.push_back(check_open_files(facts));
  return checks;
}

std::vector<HostCheck> check_host() { return judge_host(observe_host()); }

}  // namespace wardcase::sandbox
