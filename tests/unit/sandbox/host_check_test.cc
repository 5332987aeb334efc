// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/host_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <vector>

#include "sandbox/landlock.h"

// Hosts of all kinds as doctor would see them: the cause that is told, and the fix.
namespace wardcase::sandbox {
namespace {

ProbeErrors all_work() {
  ProbeErrors errors;
  for (std::size_t i = 0; i < kProbeStepCount; ++i) errors.set(static_cast<ProbeStep>(i), 0);
  return errors;
}

CgroupTrial leaf(Enforcement by) {
  CgroupTrial trial;
  trial.parent = "/sys/fs/cgroup/wardcase";
  trial.memory = trial.pids = trial.cpus = by;
  trial.can_kill = true;
  trial.has_hierarchies = true;
  trial.has_v1_controllers = by == Enforcement::cgroup1;
  return trial;
}

HostFacts root_host(Enforcement by = Enforcement::cgroup2) {
  HostFacts facts;
  facts.kernel_release = "6.1.0-13-amd64";
  facts.is_root = facts.can_choose_ids = true;
  facts.probe = all_work();
  facts.max_user_namespaces = "15000";
  facts.landlock_abi = kLowestLandlockAbi;
  facts.cgroups = leaf(by);
  facts.open_files = 1'048'576;
  return facts;
}

HostFacts user_host() {
  HostFacts facts = root_host();
  facts.is_root = facts.can_choose_ids = false;
  ProbeErrors errors = all_work();
  facts.probe = errors;
  facts.has_user_manager = true;
  return facts;
}

CgroupTrial refused(std::string why) {
  CgroupTrial trial;
  trial.error = "none can be used";
  trial.why = std::move(why);
  trial.has_hierarchies = true;
  return trial;
}

HostFacts with_failure(HostFacts facts, ProbeStep step, int error) {
  ProbeErrors errors;  // what comes behind it was not tried
  for (std::size_t i = 0; i < static_cast<std::size_t>(step); ++i) {
    errors.set(static_cast<ProbeStep>(i), 0);
  }
  errors.set(step, error);
  facts.probe = errors;
  return facts;
}

HostCheck find(const HostFacts& facts, std::string_view name) {
  const auto checks = judge_host(facts);
  const auto found = std::ranges::find(checks, name, &HostCheck::name);
  if (found != checks.end()) return *found;
  ADD_FAILURE() << "no check of " << name;
  return {};
}

void expect(const HostFacts& facts, std::string_view name, CheckState state, std::string_view cause,
            std::string_view fix) {
  const HostCheck check = find(facts, name);
  EXPECT_EQ(check.state, state) << check.detail;
  EXPECT_NE(check.detail.find(cause), std::string::npos) << check.detail;
  EXPECT_NE(check.fix.find(fix), std::string::npos) << check.fix;
  EXPECT_FALSE(check.state != CheckState::ok && check.fix.empty()) << name << " has no fix";
}

TEST(HostCheck, AWholeHostIsOk) {
  for (const Enforcement by : {Enforcement::cgroup1, Enforcement::cgroup2}) {
    for (const HostCheck& check : judge_host(root_host(by))) {
      EXPECT_EQ(check.state, CheckState::ok) << check.name << ": " << check.detail;
      EXPECT_EQ(check.fix, "") << check.name;
    }
  }
  EXPECT_NE(find(root_host(Enforcement::cgroup1), "control groups").detail.find("memory v1"),
            std::string::npos);
}

TEST(HostCheck, AUserWithADelegatedScopeLacksOnlyIdsOfItsOwn) {
  for (const HostCheck& check : judge_host(user_host())) {
    const bool is_ids = check.name == "host ids";
    EXPECT_EQ(check.state, is_ids ? CheckState::warn : CheckState::ok) << check.detail;
  }
  expect(user_host(), "host ids", CheckState::warn, "multiuser", "run as root");
}

TEST(HostCheck, AUserWithoutAScopeIsToldHowToGetOne) {
  HostFacts facts = user_host();
  facts.cgroups = refused("cgroup2: Permission denied (EACCES)");
  expect(facts, "control groups", CheckState::warn, "EACCES", "systemd-run --user --scope");
  facts.has_user_manager = false;
  expect(facts, "control groups", CheckState::warn, "EACCES", "loginctl enable-linger");
}

// systemd-run delegates nothing of version 1.
TEST(HostCheck, AUserOfVersionOneIsNotSentToSystemdRun) {
  HostFacts facts = user_host();
  facts.cgroups = refused("memory: Permission denied (EACCES)");
  facts.cgroups.has_v1_controllers = true;
  expect(facts, "control groups", CheckState::warn, "EACCES", "run as root");
  EXPECT_EQ(find(facts, "control groups").fix.find("systemd-run"), std::string::npos);
}

TEST(HostCheck, MissingControllersAndHierarchiesAreNamed) {
  HostFacts facts = root_host();
  facts.cgroups.pids = Enforcement::none;
  facts.cgroups.why = "pids: not delegated; cpu: not delegated";
  expect(facts, "control groups", CheckState::warn, "pids none", "writable");
  facts.cgroups = refused("");
  facts.cgroups.has_hierarchies = false;
  expect(facts, "control groups", CheckState::warn, "none can be used", "mount");
}

TEST(HostCheck, WhoForbidsUserNamespacesIsNamed) {
  const HostFacts forbidden = with_failure(user_host(), ProbeStep::create_namespaces, EPERM);
  HostFacts facts = forbidden;
  facts.max_user_namespaces = "0";
  expect(facts, "namespaces", CheckState::fail, "no user namespaces", "user.max_user_namespaces=");
  facts = forbidden;
  facts.unprivileged_userns_clone = "0";
  expect(facts, "namespaces", CheckState::fail, "root only", "unprivileged_userns_clone=1");
  facts = forbidden;
  facts.apparmor_restrict_userns = "1";
  expect(facts, "namespaces", CheckState::fail, "AppArmor", "profile");
  facts = forbidden;
  facts.is_filtered = true;
  expect(facts, "namespaces", CheckState::fail, "filter", "seccomp=wardcase-seccomp.json");
  expect(forbidden, "namespaces", CheckState::fail, "EPERM", "nested sandboxes");
}

// What binds ordinary users only is not root's cause.
TEST(HostCheck, ARestrictionOfUsersIsNotBlamedForRootsFailure) {
  HostFacts facts = with_failure(root_host(), ProbeStep::create_namespaces, EPERM);
  facts.unprivileged_userns_clone = "0";
  facts.apparmor_restrict_userns = "1";
  facts.is_filtered = true;
  expect(facts, "namespaces", CheckState::fail, "filter", "seccomp=wardcase-seccomp.json");
}

TEST(HostCheck, AMaskedProcIsNamed) {
  HostFacts facts = with_failure(user_host(), ProbeStep::make_proc, EPERM);
  facts.is_proc_covered = true;
  expect(facts, "proc", CheckState::fail, "covered", "systempaths=unconfined");
  facts.is_proc_covered = false;
  EXPECT_EQ(find(facts, "proc").detail.find("covered"), std::string::npos);
}

TEST(HostCheck, MissingFeaturesOfTheKernelAreNamed) {
  HostFacts facts = root_host();
  facts.landlock_abi = 0;
  expect(facts, "landlock", CheckState::warn, "not there", "lsm=");
  facts = root_host();
  facts.kernel_release = "5.10.0-1-amd64";
  expect(facts, "kernel", CheckState::fail, "5.10", "5.14");
  facts.kernel_release = "5.15.0";
  expect(facts, "kernel", CheckState::warn, "5.15", "5.19");
  facts = root_host();
  facts.open_files = 1024;
  expect(facts, "open files", CheckState::warn, "1024", "LimitNOFILE=");
}

TEST(HostCheck, EachStepThatFailsHasItsCauseAndItsFix) {
  for (std::size_t i = 0; i < kProbeStepCount; ++i) {
    for (const bool is_filtered : {false, true}) {
      HostFacts facts = with_failure(root_host(), static_cast<ProbeStep>(i), ENOSYS);
      facts.is_filtered = is_filtered;
      const auto checks = judge_host(facts);
      const auto bad = std::ranges::find_if(
          checks, [](const HostCheck& check) { return check.state != CheckState::ok; });
      ASSERT_NE(bad, checks.end()) << i;
      EXPECT_NE(bad->detail.find("ENOSYS"), std::string::npos) << bad->name << bad->detail;
      EXPECT_NE(bad->fix, "") << bad->name;
    }
  }
}

TEST(HostCheck, AProbeThatCouldNotBeMadeIsAFailure) {
  HostFacts facts = root_host();
  facts.probe = tl::unexpected(sys::Error{EMFILE, "make a pipe"});
  expect(facts, "probe", CheckState::fail, "EMFILE", "ulimit");
}

TEST(HostCheck, SaysThatAUsersBoxesShareAnIdUntilRootGivesHimSome) {
  HostFacts facts = user_host();
  EXPECT_NE(find(facts, "host ids").fix.find("make-ids"), std::string::npos);
  facts.pool_error = "is no user namespace";
  EXPECT_EQ(find(facts, "host ids").state, CheckState::warn);
  EXPECT_NE(find(facts, "host ids").detail.find("is no user namespace"), std::string::npos);
  facts.pool_error.clear();
  facts.can_map_ids = true;
  EXPECT_EQ(find(facts, "host ids").state, CheckState::warn);
  EXPECT_NE(find(facts, "host ids").fix.find("--policy multiuser"), std::string::npos);
  facts.pool_ids = 65'536;
  EXPECT_EQ(find(facts, "host ids").state, CheckState::ok);
}

// One row of the table that doctor's answers make: a kind of host, and all that is not ok there.
struct KindOfHost {
  const char* name;
  HostFacts facts;
  std::vector<std::array<std::string_view, 3>> rows;  // name, cause, fix
};

HostFacts changed(HostFacts facts, const std::function<void(HostFacts&)>& change) {
  change(facts);
  return facts;
}

std::vector<KindOfHost> kinds_of_hosts() {
  const HostFacts forbidden = with_failure(user_host(), ProbeStep::create_namespaces, EPERM);
  const auto in_container = [](HostFacts& facts, ContainerKind kind) {
    facts.is_filtered = true;
    facts.container = kind;
    facts.cgroups = refused("memory: make control group: Read-only file system (EROFS)");
  };
  return {
      {"root, hybrid", root_host(Enforcement::cgroup1), {}},
      {"root, v2", root_host(), {}},
      {"service user with ids",
       changed(user_host(), [](HostFacts& facts) { facts.pool_ids = 4096; }),
       {}},
      {"user with a scope", user_host(), {{"host ids", "multiuser", "/etc/subuid"}}},
      {"user without a manager",
       changed(user_host(),
               [](HostFacts& facts) {
                 facts.has_user_manager = false;
                 facts.cgroups = refused("memory: EACCES");
               }),
       {{"host ids", "multiuser", "wardcased"},
        {"control groups", "only watched", "loginctl enable-linger"}}},
      {"user namespaces off by sysctl",
       changed(forbidden, [](HostFacts& facts) { facts.max_user_namespaces = "0"; }),
       {{"namespaces", "user.max_user_namespaces=0", "sysctl -w user.max_user_namespaces="},
        {"host ids", "multiuser", "/etc/subuid"}}},
      {"user namespaces for root alone",
       changed(forbidden, [](HostFacts& facts) { facts.unprivileged_userns_clone = "0"; }),
       {{"namespaces", "root only", "kernel.unprivileged_userns_clone=1"},
        {"host ids", "multiuser", "/etc/subuid"}}},
      {"user namespaces off by AppArmor",
       changed(with_failure(user_host(), ProbeStep::private_mounts, EACCES),
               [](HostFacts& facts) { facts.apparmor_restrict_userns = "1"; }),
       {{"private mounts", "AppArmor", "kernel.apparmor_restrict_unprivileged_userns=0"},
        {"host ids", "multiuser", "/etc/subuid"}}},
      {"masked /proc",
       changed(with_failure(root_host(), ProbeStep::make_proc, EPERM),
               [](HostFacts& facts) {
                 facts.is_proc_covered = true;
                 facts.container = ContainerKind::podman;
               }),
       {{"proc", "parts of /proc are covered", "podman run --security-opt unmask=ALL"}}},
      {"docker's default",
       changed(forbidden, [&](HostFacts& facts) { in_container(facts, ContainerKind::docker); }),
       {{"namespaces", "system call filter", "docker run --security-opt seccomp="},
        {"host ids", "multiuser", "/etc/subuid"},
        {"control groups", "EROFS", "its own limits hold for all boxes"}}},
      {"a pod's default",
       changed(forbidden,
               [&](HostFacts& facts) { in_container(facts, ContainerKind::kubernetes); }),
       {{"namespaces", "system call filter", "hostUsers: false, procMount: Unmasked"},
        {"host ids", "multiuser", "/etc/subuid"},
        {"control groups", "EROFS", "its own limits hold for all boxes"}}},
      {"a pool that can't be used",
       changed(user_host(), [](HostFacts& facts) { facts.pool_error = "it is not mapped"; }),
       {{"host ids", "it is not mapped", "make-ids"}}},
      {"without Landlock",
       changed(root_host(), [](HostFacts& facts) { facts.landlock_abi = 0; }),
       {{"landlock", "not there", "lsm="}}},
      {"an old kernel",
       changed(root_host(), [](HostFacts& facts) { facts.kernel_release = "5.15.0"; }),
       {{"kernel", "interrupted", "5.19"}}},
      {"no id-mapped mounts",
       with_failure(root_host(), ProbeStep::map_mount_ids, EINVAL),
       {{"id-mapped mounts", "only their owner", "ext4"}}},
      {"a sandbox around us that listens",
       changed(with_failure(root_host(), ProbeStep::make_listener, EBUSY),
               [](HostFacts& facts) { facts.is_filtered = true; }),
       {{"seccomp reports", "listens already", "outside of the other sandbox"}}},
      {"no cgroupfs",
       changed(root_host(),
               [](HostFacts& facts) {
                 facts.cgroups = refused("");
                 facts.cgroups.has_hierarchies = false;
               }),
       {{"control groups", "none can be used", "mount the control groups"}}},
      {"a controller missing",
       changed(root_host(),
               [](HostFacts& facts) {
                 facts.cgroups.cpus = Enforcement::none;
                 facts.cgroups.why = "cpu: not among the controllers of '/a'";
               }),
       {{"control groups", "cpu: not among the controllers", "Delegate=yes"}}},
  };
}

// Nothing is told that is not so, either: what has no row here is ok.
TEST(HostCheck, EachKindOfHostIsToldItsCauseAndItsFix) {
  for (const KindOfHost& kind : kinds_of_hosts()) {
    SCOPED_TRACE(kind.name);
    std::size_t at = 0;
    for (const HostCheck& check : judge_host(kind.facts)) {
      if (check.state == CheckState::ok) continue;
      ASSERT_LT(at, kind.rows.size()) << check.name << ": " << check.detail;
      const auto& [name, cause, fix] = kind.rows[at++];
      EXPECT_EQ(check.name, name);
      EXPECT_NE(check.detail.find(cause), std::string::npos) << check.detail;
      EXPECT_NE(check.fix.find(fix), std::string::npos) << check.fix;
    }
    EXPECT_EQ(at, kind.rows.size());
  }
}

TEST(HostCheck, SaysWhetherPressureIsMeasured) {
  HostFacts facts = root_host();
  EXPECT_EQ(find(facts, "control groups").detail.find("PSI"), std::string::npos);
  facts.has_pressure = true;
  EXPECT_NE(find(facts, "control groups").detail.find("PSI"), std::string::npos);
}

}  // namespace
}  // namespace wardcase::sandbox
