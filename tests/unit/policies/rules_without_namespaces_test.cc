// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <gtest/gtest.h>
#include <linux/fs.h>
#include <linux/fsverity.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>

#include "policies/syscall_policy.h"
#include "tests/support/evaluate_policy.h"

namespace wardcase::policies {
namespace {

using test::Arguments;

// <linux/ioprio.h> is not for C++.
constexpr std::uint64_t kIoPriorityOfProcess = 1, kIoPriorityOfGroup = 2, kIoPriorityOfUser = 3;

class WithoutNamespaces : public testing::Test {
 protected:
  [[nodiscard]] Answer ask(std::string_view name, const Arguments& arguments = {}) const {
    const SyscallRule* rule = rule_of(policy_, name);
    return rule == nullptr ? policy_.standard : test::evaluate_rule(*rule, arguments);
  }
  static SyscallOptions options() {
    SyscallOptions options;
    options.refuse_setid_modes = true;
    options.own_namespaces = false;
    options.own_user = false;
    return options;
  }

  SyscallPolicy policy_ = default_syscall_policy(options());
};

TEST_F(WithoutNamespaces, NamesEachCallOnceAndSaysWhy) {
  for (int bits = 0; bits < 64; ++bits) {
    SyscallOptions changed = options();
    changed.refuse_setid_modes = (bits & 1) != 0;
    changed.refuse_uncounted_memory = (bits & 2) != 0;
    changed.pin_affinity = (bits & 4) != 0;
    changed.own_network = (bits & 8) != 0;
    changed.own_user = (bits & 16) != 0;
    changed.truncate_is_held = (bits & 32) != 0;
    std::set<std::string> names;
    for (const SyscallRule& rule : default_syscall_policy(changed).rules) {
      EXPECT_TRUE(names.insert(rule.name).second) << rule.name << " " << bits;
      EXPECT_FALSE(rule.why.empty()) << rule.name;
    }
  }
}

TEST_F(WithoutNamespaces, NoSocketIsThereToReachTheHostBy) {
  for (std::uint64_t family = 0; family < 64; ++family) {
    EXPECT_EQ(ask("socket", {family, SOCK_STREAM}), Answer::eafnosupport) << family;
  }
  for (const int type : std::initializer_list<int>{
           SOCK_STREAM, SOCK_SEQPACKET, SOCK_STREAM | SOCK_CLOEXEC,
           SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, SOCK_SEQPACKET | SOCK_NONBLOCK}) {
    EXPECT_EQ(ask("socketpair", {AF_UNIX, static_cast<unsigned>(type)}), Answer::allow) << type;
    EXPECT_EQ(ask("socketpair", {AF_INET, static_cast<unsigned>(type)}), Answer::eafnosupport);
  }
  for (const int type :
       std::initializer_list<int>{SOCK_DGRAM, SOCK_DGRAM | SOCK_CLOEXEC, SOCK_RAW, SOCK_RDM}) {
    EXPECT_EQ(ask("socketpair", {AF_UNIX, static_cast<unsigned>(type)}), Answer::eafnosupport);
  }
}

TEST_F(WithoutNamespaces, TheHostsNetworkHasNoSocketsOfOtherFamilies) {
  SyscallOptions open = options();
  open.own_network = false;
  policy_ = default_syscall_policy(open);
  EXPECT_EQ(ask("socket", {AF_INET, SOCK_STREAM, IPPROTO_TCP}), Answer::allow);
  EXPECT_EQ(ask("socket", {AF_INET6, SOCK_DGRAM, IPPROTO_UDP}), Answer::allow);
  EXPECT_EQ(ask("socket", {AF_INET, SOCK_RAW, IPPROTO_SCTP}), Answer::eafnosupport);
  EXPECT_EQ(ask("socket", {AF_UNIX, SOCK_STREAM}), Answer::eafnosupport);
  EXPECT_EQ(ask("socket", {AF_NETLINK, SOCK_RAW}), Answer::eafnosupport);
}

TEST_F(WithoutNamespaces, OtherProcessesAreNotToBeChanged) {
  for (const char* name : {"prlimit64", "sched_setscheduler", "sched_setparam", "sched_setattr",
                           "sched_setaffinity"}) {
    EXPECT_EQ(ask(name, {0}), Answer::allow) << name;
    for (const std::uint64_t pid : {1ULL, 2ULL, 4'194'304ULL, ~0ULL}) {
      EXPECT_EQ(ask(name, {pid}), Answer::eperm) << name << " " << pid;
    }
  }
  EXPECT_EQ(ask("setpriority", {PRIO_PROCESS, 0}), Answer::allow);
  EXPECT_EQ(ask("setpriority", {PRIO_PROCESS, 99}), Answer::eperm);
  EXPECT_EQ(ask("setpriority", {PRIO_PGRP, 0}), Answer::eperm);
  EXPECT_EQ(ask("setpriority", {PRIO_USER, 0}), Answer::eperm);
  EXPECT_EQ(ask("ioprio_set", {kIoPriorityOfProcess, 0}), Answer::allow);
  EXPECT_EQ(ask("ioprio_set", {kIoPriorityOfProcess, 99}), Answer::eperm);
  EXPECT_EQ(ask("ioprio_set", {kIoPriorityOfGroup, 0}), Answer::eperm);
  EXPECT_EQ(ask("ioprio_set", {kIoPriorityOfUser, 0}), Answer::eperm);
}

TEST_F(WithoutNamespaces, ObjectsOfTheHostAreNotToBeHad) {
  for (const char* name : {"shmget", "shmat", "semget", "semop", "semtimedop", "msgget", "msgrcv",
                           "msgsnd", "mq_open", "mq_unlink"}) {
    EXPECT_EQ(ask(name), Answer::enosys) << name;
  }
}

TEST_F(WithoutNamespaces, ByPathNothingOfAFileIsChangedUnderTheCallersOwnId) {
  for (const char* name : {"chmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchownat", "utime",
                           "utimes", "futimesat", "setxattr", "lsetxattr", "removexattr"}) {
    EXPECT_EQ(ask(name), Answer::eperm) << name;
  }
  EXPECT_EQ(ask("utimensat", {3, 0, 0, 0}), Answer::allow);  // futimens(3)
  EXPECT_EQ(ask("utimensat", {3, 0x1'0000'0000, 0, 0}), Answer::eperm);
  EXPECT_EQ(ask("utimensat", {3, 1, 0, 0}), Answer::eperm);
  EXPECT_EQ(ask("fchmod", {3, 0644}), Answer::allow);
  EXPECT_EQ(ask("fchmod", {3, 04755}), Answer::eperm);
  SyscallOptions own = options();
  own.own_user = true;
  policy_ = default_syscall_policy(own);
  EXPECT_EQ(ask("chmod", {0, 0644}), Answer::allow);
  EXPECT_EQ(ask("chmod", {0, 04755}), Answer::eperm);
}

TEST_F(WithoutNamespaces, WhereSomethingIsReadOnlyDescriptorsChangeNoAttributesEither) {
  SyscallOptions kept = options();
  kept.keeps_attributes = true;
  for (const bool own_user : {false, true}) {
    kept.own_user = own_user;
    policy_ = default_syscall_policy(kept);
    const Answer expected = own_user ? Answer::allow : Answer::eperm;
    for (const char* name : {"fchmod", "fchown", "fsetxattr", "fremovexattr", "utimensat"}) {
      EXPECT_EQ(ask(name, {3, 0, 0, 0}), expected) << name;
    }
    for (const std::uint64_t command : std::initializer_list<std::uint64_t>{
             FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR, FS_IOC_ENABLE_VERITY, FS_IOC_SETVERSION}) {
      EXPECT_EQ(ask("ioctl", {3, command}), expected) << command;
    }
    EXPECT_EQ(ask("ioctl", {3, FS_IOC_GETFLAGS}), Answer::allow);
    EXPECT_EQ(ask("ioctl", {0, TIOCSTI}), Answer::eperm);
  }
}

TEST_F(WithoutNamespaces, AnOldLandlockLeavesTruncateToTheFilter) {
  EXPECT_EQ(ask("truncate"), Answer::allow);
  SyscallOptions old = options();
  old.truncate_is_held = false;
  policy_ = default_syscall_policy(old);
  EXPECT_EQ(ask("truncate"), Answer::eperm);
  EXPECT_EQ(ask("ftruncate"), Answer::allow);
}

}  // namespace
}  // namespace wardcase::policies
