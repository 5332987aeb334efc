// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <gtest/gtest.h>

#include <algorithm>

#include "policies/policy.h"
#include "tests/support/evaluate_policy.h"

namespace wardcase::policies {
namespace {

class Changed : public testing::Test {
 protected:
  [[nodiscard]] Answer ask(std::string_view name, const test::Arguments& arguments = {}) const {
    const SyscallPolicy policy =
        change(default_syscall_policy({.refuse_setid_modes = true, .pin_affinity = true}), changes);
    EXPECT_LE(std::ranges::count(policy.rules, name, &SyscallRule::name), 1) << name;
    const auto rule = std::ranges::find(policy.rules, name, &SyscallRule::name);
    return rule == policy.rules.end() ? policy.standard : test::evaluate_rule(*rule, arguments);
  }
  SyscallChanges changes;
};

TEST_F(Changed, AnswersToACallAreThoseOfItsRule) {
  const SyscallPolicy policy = default_syscall_policy({.refuse_setid_modes = true});
  EXPECT_EQ(rule_of(policy, "read"), nullptr);
  EXPECT_EQ(answer_to(policy, nullptr, {}), Answer::allow);
  for (const SyscallRule& rule : policy.rules) {
    EXPECT_EQ(rule_of(policy, rule.name), &rule);
    for (const std::uint64_t first : {0ULL, 1ULL, 2ULL, 16ULL, 0x1000'0000ULL, 1ULL << 32}) {
      for (const std::uint64_t second : {0ULL, 1ULL, 8ULL, 0100ULL, 06000ULL, 0x5412ULL}) {
        const test::Arguments arguments = {first, second, second, second, 0, 0};
        EXPECT_EQ(answer_to(policy, &rule, arguments), test::evaluate_rule(rule, arguments))
            << rule.name;
      }
    }
  }
}

TEST_F(Changed, WhatIsOpenableIsOpenedByName) {
  changes.openable = {"ptrace", "getcwd"};
  ASSERT_TRUE(open_call(changes, "ptrace", "p"));
  EXPECT_EQ(ask("ptrace"), Answer::allow);
  EXPECT_EQ(changes.opened, std::vector<std::string>{"ptrace"});
  EXPECT_EQ(open_call(changes, "mount", "p").error().message(),
            "policy 'p' does not let it be opened; it would have to stand in syscalls.openable "
            "there");
  EXPECT_EQ(open_call(changes, "prlimit64", "p").error().message(),
            "policy 'p' has no rule for it that can be lifted");
  changes.lifted.push_back("mount");
  EXPECT_TRUE(open_call(changes, "mount", "p"));  // it is open already
  changes.denied = {{"getcwd", {}, Answer::eperm, "w"}};
  EXPECT_EQ(open_call(changes, "getcwd", "p").error().message(),
            "policy 'p' denies it (syscalls.deny)");
}

TEST_F(Changed, OpeningAddsToAnAllowListWithinTheRulesOfInit) {
  changes.standard = Answer::kill;
  changes.openable = {"getcwd", "prlimit64"};
  EXPECT_EQ(ask("getcwd"), Answer::kill);
  ASSERT_TRUE(open_call(changes, "getcwd", "p"));
  ASSERT_TRUE(open_call(changes, "prlimit64", "p"));
  EXPECT_FALSE(open_call(changes, "read", "p"));
  EXPECT_EQ(ask("getcwd"), Answer::allow);
  EXPECT_EQ(ask("prlimit64", {0}), Answer::allow);
  EXPECT_EQ(ask("prlimit64", {1}), Answer::eperm);
}

TEST_F(Changed, NothingIsChangedWithoutChanges) {
  EXPECT_EQ(ask("read"), Answer::allow);
  EXPECT_EQ(ask("mount"), Answer::eperm);
  EXPECT_EQ(ask("clone3"), Answer::enosys);
}

TEST_F(Changed, WhatIsDeniedIsDeniedWhateverItsArguments) {
  changes.denied = {{"socket", {}, Answer::kill, "w"}, {"read", {}, Answer::enosys, "w"}};
  EXPECT_EQ(ask("socket", {1}), Answer::kill);
  EXPECT_EQ(ask("read"), Answer::enosys);
}

TEST_F(Changed, ALiftedRuleIsGoneButThoseOfInitAndLimitsStand) {
  changes.lifted = {"ptrace", "unshare", "prlimit64", "sched_setaffinity", "openat2", "chmod"};
  EXPECT_EQ(ask("ptrace"), Answer::allow);
  EXPECT_EQ(ask("unshare", {0x1000'0000}), Answer::allow);
  EXPECT_EQ(ask("prlimit64", {1}), Answer::eperm);
  EXPECT_EQ(ask("sched_setaffinity", {7}), Answer::eperm);
  EXPECT_EQ(ask("openat2"), Answer::enosys);
  EXPECT_EQ(ask("chmod", {0, 04755}), Answer::eperm);
}

TEST_F(Changed, AnAllowListRefusesTheRestAndKeepsTheRulesOfArguments) {
  changes.standard = Answer::eperm;
  changes.allowed = {"read", "read", "clone"};
  EXPECT_EQ(ask("read"), Answer::allow);
  EXPECT_EQ(ask("write"), Answer::eperm);
  EXPECT_EQ(ask("socket", {1}), Answer::eperm);
  EXPECT_EQ(ask("clone", {0}), Answer::allow);
  EXPECT_EQ(ask("clone", {0x1000'0000}), Answer::eperm);
  EXPECT_EQ(ask("clone3"), Answer::enosys);
  for (const char* name : {"execve", "sendmsg", "exit_group"}) {
    EXPECT_EQ(ask(name), Answer::allow) << name;
  }
}

TEST(SyscallChanges, ResolveGroupsAndNameUnknownOnes) {
  Policy policy;
  policy.allowed_calls = {{"@mine", "p:1"}, {"read", "p:1"}};
  policy.denied_calls = {{{"@mount", Answer::kill, "w"}, "p:2"}};
  const auto changes = syscall_changes(policy, {{"mine", {"write", "open"}}});
  ASSERT_TRUE(changes);
  EXPECT_EQ(changes->allowed, (std::vector<std::string>{"write", "open", "read"}));
  EXPECT_GT(changes->denied.size(), 5U);
  policy.allowed_calls = {{"@nobody", "p:3"}};
  const auto refused = syscall_changes(policy, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message().find("p:3: '@nobody': no such group"), 0U);
}

}  // namespace
}  // namespace wardcase::policies
