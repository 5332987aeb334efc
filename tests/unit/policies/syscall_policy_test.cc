// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "policies/syscall_policy.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>

#include "tests/support/evaluate_policy.h"

namespace wardcase::policies {
namespace {

using test::Arguments;
using Words = std::initializer_list<std::uint64_t>;

const SyscallRule* find_rule(const SyscallPolicy& policy, std::string_view name) {
  const auto found = std::ranges::find(policy.rules, name, &SyscallRule::name);
  return found == policy.rules.end() ? nullptr : &*found;
}

class DefaultPolicy : public testing::Test {
 protected:
  [[nodiscard]] Answer ask(std::string_view name, const Arguments& arguments = {}) const {
    const SyscallRule* rule = find_rule(policy_, name);
    return rule == nullptr ? policy_.standard : test::evaluate_rule(*rule, arguments);
  }

  SyscallPolicy policy_ = default_syscall_policy({});
};

class PolicyOfWritableBinds : public DefaultPolicy {
 protected:
  void SetUp() override {
    policy_ = default_syscall_policy({.refuse_setid_modes = true, .pin_affinity = false});
  }
};

constexpr std::uint64_t kHighBits = 0xffff'ffff'0000'0000;

TEST_F(DefaultPolicy, NamesEachCallOnceAndSaysWhy) {
  for (const bool setid : {false, true}) {
    for (const bool affinity : {false, true}) {
      std::set<std::string> names;
      for (const SyscallRule& rule :
           default_syscall_policy({.refuse_setid_modes = setid, .pin_affinity = affinity}).rules) {
        EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
        EXPECT_FALSE(rule.why.empty()) << rule.name;
      }
    }
  }
}

TEST_F(DefaultPolicy, AllowsWhatInterpretersNeed) {
  for (const char* name : {"read",
                           "write",
                           "openat",
                           "execve",
                           "mmap",
                           "fork",
                           "vfork",
                           "clone",
                           "futex",
                           "prlimit64",
                           "sendmsg",
                           "ioctl",
                           "memfd_create",
                           "chmod",
                           "mknodat",
                           "openat2",
                           "sched_setaffinity",
                           "setpriority",
                           "seccomp",
                           "personality",
                           "unshare",
                           "pidfd_open",
                           "landlock_create_ruleset",
                           "inotify_init1",
                           "statx",
                           "rseq",
                           "copy_file_range"}) {
    EXPECT_EQ(ask(name), Answer::allow) << name;
  }
}

TEST_F(DefaultPolicy, HidesWhatLibrariesProbe) {
  for (const char* name : {"clone3", "io_uring_setup", "io_uring_enter", "io_uring_register",
                           "io_setup", "get_mempolicy", "set_mempolicy", "set_mempolicy_home_node",
                           "mbind", "move_pages", "migrate_pages"}) {
    EXPECT_EQ(ask(name), Answer::enosys) << name;
  }
}

TEST_F(DefaultPolicy, RefusesWhatReachesOutOfTheBox) {
  for (const char* name : {"mount",
                           "umount2",
                           "pivot_root",
                           "chroot",
                           "open_tree",
                           "move_mount",
                           "fsopen",
                           "fsconfig",
                           "fsmount",
                           "fspick",
                           "mount_setattr",
                           "open_tree_attr",
                           "setns",
                           "keyctl",
                           "add_key",
                           "request_key",
                           "bpf",
                           "perf_event_open",
                           "userfaultfd",
                           "open_by_handle_at",
                           "name_to_handle_at",
                           "ptrace",
                           "process_vm_readv",
                           "process_vm_writev",
                           "pidfd_getfd",
                           "kcmp",
                           "process_madvise",
                           "kexec_load",
                           "kexec_file_load",
                           "init_module",
                           "finit_module",
                           "delete_module",
                           "swapon",
                           "swapoff",
                           "reboot",
                           "quotactl",
                           "quotactl_fd",
                           "acct",
                           "syslog",
                           "iopl",
                           "ioperm",
                           "modify_ldt",
                           "vmsplice",
                           "lookup_dcookie",
                           "fanotify_init",
                           "memfd_secret",
                           "settimeofday",
                           "clock_settime",
                           "clock_adjtime",
                           "adjtimex",
                           "sethostname",
                           "setdomainname",
                           "vhangup",
                           "nfsservctl",
                           "uselib"}) {
    EXPECT_EQ(ask(name), Answer::eperm) << name;
  }
}

TEST_F(DefaultPolicy, RefusesNewNamespaces) {
  for (const std::uint64_t flag : Words{CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
                                        CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET}) {
    EXPECT_EQ(ask("unshare", {CLONE_FILES | flag}), Answer::eperm) << flag;
    EXPECT_EQ(ask("clone", {CLONE_VM | SIGCHLD | flag}), Answer::eperm) << flag;
  }
  EXPECT_EQ(ask("unshare", {CLONE_NEWTIME}), Answer::eperm);
  EXPECT_EQ(ask("unshare", {CLONE_FILES | CLONE_FS}), Answer::allow);
  EXPECT_EQ(ask("clone", {CLONE_VM | CLONE_VFORK | CLONE_THREAD | 0xff}), Answer::allow);
}

TEST_F(DefaultPolicy, AllowsOnlyTheUsualSocketFamilies) {
  for (std::uint64_t family = 0; family < 64; ++family) {
    const bool usual = family == AF_UNIX || family == AF_INET || family == AF_INET6;
    EXPECT_EQ(ask("socket", {family, SOCK_STREAM, IPPROTO_TCP}),
              usual ? Answer::allow : Answer::eafnosupport)
        << family;
    EXPECT_EQ(ask("socketpair", {family, SOCK_STREAM, 0}),
              family == AF_UNIX ? Answer::allow : Answer::eafnosupport)
        << family;
  }
  EXPECT_EQ(ask("socket", {AF_NETLINK, SOCK_RAW, NETLINK_ROUTE}), Answer::allow);
  EXPECT_EQ(ask("socket", {AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER}), Answer::eafnosupport);
  EXPECT_EQ(ask("socket", {kHighBits | AF_VSOCK}), Answer::eafnosupport);
}

TEST_F(DefaultPolicy, AllowsOnlyTheUsualProtocolsOfTheInternet) {
  for (const std::uint64_t family : Words{AF_INET, AF_INET6}) {
    for (const std::uint64_t protocol : Words{IPPROTO_IP, IPPROTO_ICMP, IPPROTO_TCP, IPPROTO_UDP,
                                              IPPROTO_ICMPV6, IPPROTO_UDPLITE, IPPROTO_RAW}) {
      EXPECT_EQ(ask("socket", {family, SOCK_STREAM, protocol}), Answer::allow) << protocol;
    }
    for (const std::uint64_t protocol :
         Words{IPPROTO_SCTP, IPPROTO_DCCP, IPPROTO_MPTCP, IPPROTO_GRE, 115 /*L2TP*/, 256 /*SMC*/}) {
      EXPECT_EQ(ask("socket", {family, SOCK_STREAM, protocol}), Answer::eafnosupport) << protocol;
    }
  }
}

TEST_F(DefaultPolicy, RefusesLeasesButNoLocks) {
  EXPECT_EQ(ask("fcntl", {0, F_SETLEASE}), Answer::eperm);
  EXPECT_EQ(ask("fcntl", {0, kHighBits | F_SETLEASE}), Answer::eperm);
  EXPECT_EQ(ask("fcntl", {0, 1040 /*F_SETDELEG*/}), Answer::eperm);
  for (const std::uint64_t command :
       Words{F_SETLK, F_OFD_SETLK, F_GETLEASE, F_SETPIPE_SZ, F_ADD_SEALS, F_NOTIFY}) {
    EXPECT_EQ(ask("fcntl", {0, command}), Answer::allow) << command;
  }
}

TEST_F(DefaultPolicy, RefusesTheHostsHugePages) {
  const std::uint64_t flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB;
  EXPECT_EQ(ask("mmap", {0, 0, 0, flags}), Answer::eperm);
  EXPECT_EQ(ask("mmap", {0, 0, 0, kHighBits | flags}), Answer::eperm);
  EXPECT_EQ(ask("memfd_create", {0, MFD_HUGETLB | MFD_CLOEXEC}), Answer::eperm);
  EXPECT_EQ(ask("memfd_create", {0, MFD_ALLOW_SEALING}), Answer::allow);
  EXPECT_EQ(ask("shmget", {0, 0, SHM_HUGETLB | IPC_CREAT | 0600}), Answer::eperm);
  EXPECT_EQ(ask("shmget", {0, 0, IPC_CREAT | 0600}), Answer::allow);
}

TEST_F(DefaultPolicy, KeepsTheCallersTerminal) {
  for (const std::uint64_t command : Words{TIOCSTI, TIOCLINUX, TIOCSETD, TIOCCONS}) {
    EXPECT_EQ(ask("ioctl", {0, command}), Answer::eperm) << command;
    EXPECT_EQ(ask("ioctl", {0, kHighBits | command}), Answer::eperm) << command;
  }
  for (const std::uint64_t command : Words{TCGETS, TIOCGWINSZ, TIOCSWINSZ, FIONREAD, TIOCSCTTY}) {
    EXPECT_EQ(ask("ioctl", {0, command}), Answer::allow) << command;
  }
}

TEST_F(DefaultPolicy, RefusesASecondListenerButNoOtherFilter) {
  const std::uint64_t operation = SECCOMP_SET_MODE_FILTER;
  EXPECT_EQ(ask("seccomp", {operation, SECCOMP_FILTER_FLAG_NEW_LISTENER}), Answer::eperm);
  EXPECT_EQ(ask("seccomp",
                {operation, SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_TSYNC_ESRCH}),
            Answer::eperm);
  EXPECT_EQ(ask("seccomp", {operation, SECCOMP_FILTER_FLAG_TSYNC}), Answer::allow);
}

TEST_F(DefaultPolicy, AnswersQueriesOfThePersonalityOnly) {
  EXPECT_EQ(ask("personality", {0xffff'ffff}), Answer::allow);
  EXPECT_EQ(ask("personality", {UINT64_MAX}), Answer::allow);
  EXPECT_EQ(ask("personality", {0}), Answer::allow);
  EXPECT_EQ(ask("personality", {0x0040000}), Answer::eperm);
}

TEST_F(DefaultPolicy, ProtectsInit) {
  for (const char* name : {"prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setparam",
                           "sched_setattr"}) {
    EXPECT_EQ(ask(name, {1}), Answer::eperm) << name;
    EXPECT_EQ(ask(name, {kHighBits | 1}), Answer::eperm) << name;
    EXPECT_EQ(ask(name, {0}), Answer::allow) << name;
    EXPECT_EQ(ask(name, {2}), Answer::allow) << name;
  }
  EXPECT_EQ(ask("setpriority", {PRIO_PROCESS, 0}), Answer::allow);
  EXPECT_EQ(ask("setpriority", {PRIO_PROCESS, 1}), Answer::eperm);
  EXPECT_EQ(ask("setpriority", {PRIO_PGRP, 1}), Answer::eperm);
  EXPECT_EQ(ask("setpriority", {PRIO_USER, 0}), Answer::eperm);
  // IOPRIO_WHO_PROCESS and so on of ioprio_set(2): their header is not C++ in each version.
  constexpr std::uint64_t kIoOfProcess = 1, kIoOfGroup = 2, kIoOfUser = 3;
  EXPECT_EQ(ask("ioprio_set", {kIoOfProcess, 0}), Answer::allow);
  EXPECT_EQ(ask("ioprio_set", {kIoOfProcess, 1}), Answer::eperm);
  EXPECT_EQ(ask("ioprio_set", {kIoOfGroup, 1}), Answer::eperm);
  EXPECT_EQ(ask("ioprio_set", {kIoOfUser, 1000}), Answer::eperm);
}

TEST_F(DefaultPolicy, PinsTheAffinityWhenTold) {
  policy_ = default_syscall_policy({.refuse_setid_modes = false, .pin_affinity = true});
  EXPECT_EQ(ask("sched_setaffinity", {0}), Answer::eperm);
  EXPECT_EQ(ask("sched_setscheduler", {0}), Answer::allow);
}

TEST_F(DefaultPolicy, RefusesMemoryThatAWatcherCantSeeWhenTold) {
  const std::uint64_t flags = MAP_SHARED | MAP_ANONYMOUS;
  EXPECT_EQ(ask("mmap", {0, 0, 0, flags}), Answer::allow);
  policy_ = default_syscall_policy({.refuse_uncounted_memory = true});
  EXPECT_EQ(ask("mmap", {0, 0, 0, flags}), Answer::eperm);
  EXPECT_EQ(ask("mmap", {0, 0, 0, kHighBits | flags | MAP_NORESERVE}), Answer::eperm);
  EXPECT_EQ(ask("mmap", {0, 0, 0, MAP_PRIVATE | MAP_ANONYMOUS}), Answer::allow);
  EXPECT_EQ(ask("mmap", {0, 0, 0, MAP_SHARED}), Answer::allow);
  EXPECT_EQ(ask("mmap", {0, 0, 0, MAP_PRIVATE | MAP_HUGETLB}), Answer::eperm);
  for (const char* name : {"memfd_create", "shmget", "semget", "msgget"}) {
    EXPECT_EQ(ask(name), Answer::enosys) << name;
  }
}

TEST_F(DefaultPolicy, LeavesSetidModesAloneWhereNothingOutlivesTheBox) {
  EXPECT_EQ(ask("chmod", {0, 04755}), Answer::allow);
  EXPECT_EQ(ask("openat", {0, 0, O_CREAT, 04755}), Answer::allow);
}

TEST_F(PolicyOfWritableBinds, RefusesSetidModesWhereverAModeIsGiven) {
  for (const std::uint64_t bits : Words{S_ISUID, S_ISGID, S_ISUID | S_ISGID}) {
    const std::uint64_t mode = 0755 | bits;
    for (const char* name : {"chmod", "fchmod", "creat", "mknod"}) {
      EXPECT_EQ(ask(name, {0, mode}), Answer::eperm) << name;
      EXPECT_EQ(ask(name, {0, kHighBits | mode}), Answer::eperm) << name;
      EXPECT_EQ(ask(name, {0, 01777}), Answer::allow) << name;
    }
    for (const char* name : {"fchmodat", "fchmodat2", "mknodat"}) {
      EXPECT_EQ(ask(name, {0, 0, mode}), Answer::eperm) << name;
      EXPECT_EQ(ask(name, {0, mode, 01777}), Answer::allow) << name;
    }
    for (const std::uint64_t flags : Words{O_CREAT, O_TMPFILE | O_RDWR, O_CREAT | O_TMPFILE}) {
      EXPECT_EQ(ask("open", {0, flags, mode}), Answer::eperm) << flags;
      EXPECT_EQ(ask("openat", {0, 0, flags, mode}), Answer::eperm) << flags;
      EXPECT_EQ(ask("openat", {0, 0, flags, 0755}), Answer::allow) << flags;
    }
    // A leftover in the register of the mode that is not looked at.
    EXPECT_EQ(ask("open", {0, O_RDONLY | O_DIRECTORY, mode}), Answer::allow);
    EXPECT_EQ(ask("openat", {0, 0, O_RDWR | O_DIRECTORY, mode}), Answer::allow);
  }
  EXPECT_EQ(ask("openat2"), Answer::enosys);
}

}  // namespace
}  // namespace wardcase::policies
