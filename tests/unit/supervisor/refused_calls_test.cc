// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/refused_calls.h"

#include <gtest/gtest.h>
#include <linux/sched.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <initializer_list>

#include "sandbox/syscall_names.h"

namespace wardcase::supervisor {
namespace {

using policies::Answer;

class RefusedCallsTest : public testing::Test {
 protected:
  RefusedCallsTest() {
    spec_.policy = "p";
    spec_.syscalls.openable = {"ptrace"};
    spec_.syscalls.denied = {{"getcwd", {}, Answer::kill, "nobody needs it"}};
    rules_ = policies::change(policies::default_syscall_policy({.refuse_setid_modes = true}),
                              spec_.syscalls);
  }
  Answer call(long number, std::initializer_list<std::uint64_t> arguments = {}) {
    seccomp_data data = {};
    data.nr = static_cast<int>(number);
    std::size_t at = 0;
    for (const std::uint64_t argument : arguments) data.args[at++] = argument;
    return refused_.note(data).answer;
  }
  const DeniedCall& last() { return refused_.calls().back(); }

  RunSpec spec_;
  policies::SyscallPolicy rules_;
  RefusedCalls refused_{rules_, spec_};
};

TEST_F(RefusedCallsTest, CountsByNameInOrderOfTheFirst) {
  for (const long number : {SYS_ptrace, SYS_mount, SYS_ptrace, SYS_ptrace}) {
    EXPECT_EQ(call(number), Answer::eperm);
  }
  ASSERT_EQ(refused_.calls().size(), 2U);
  EXPECT_EQ(refused_.calls()[0].name, "ptrace");
  EXPECT_EQ(refused_.calls()[0].count, 3U);
  EXPECT_EQ(refused_.calls()[1].name, "mount");
  EXPECT_EQ(refused_.calls()[1].count, 1U);
}

TEST_F(RefusedCallsTest, TellsTheFirstCallsArgumentsInWords) {
  call(SYS_ptrace, {16});
  call(SYS_ptrace, {0});
  EXPECT_EQ(last().detail, "PTRACE_ATTACH");
  call(SYS_clone, {CLONE_NEWUSER | CLONE_NEWNS | CLONE_VM});
  EXPECT_EQ(last().detail, "CLONE_NEWNS|CLONE_NEWUSER");
  call(SYS_ioctl, {0, TIOCSTI | std::uint64_t{1} << 40});
  EXPECT_EQ(last().detail, "TIOCSTI");
  call(SYS_prlimit64, {1});
  EXPECT_EQ(last().detail, "process 1");
  call(SYS_openat, {0, 0, 0100, 04755});
  EXPECT_EQ(last().detail, "mode 04755");
  call(SYS_personality, {0x40000});
  EXPECT_EQ(last().detail, "0x40000");
  call(SYS_mount, {1, 2, 3});
  EXPECT_EQ(last().detail, "");
}

TEST_F(RefusedCallsTest, KillsWhereThePolicySaysSoAndNowhereElse) {
  EXPECT_EQ(call(SYS_getcwd), Answer::kill);
  EXPECT_EQ(last().why, "nobody needs it");
  // A call that the rules let through was never notified; whoever says so gets no.
  EXPECT_EQ(call(SYS_read), Answer::eperm);
}

TEST_F(RefusedCallsTest, SaysWhatWouldAllowIt) {
  call(SYS_ptrace);
  EXPECT_EQ(last().remedy, "allow it with --allow-syscalls ptrace");
  call(SYS_getcwd);
  EXPECT_EQ(last().remedy, "policy 'p' denies it in syscalls.deny");
  call(SYS_mount);
  EXPECT_EQ(last().remedy, "a policy can allow it, by a reason in [dangerous.syscalls] mount");
  call(SYS_prlimit64, {1});
  EXPECT_EQ(last().remedy, "no policy can allow it");
  spec_.syscalls.standard = Answer::eperm;
  call(SYS_read);
  EXPECT_EQ(last().remedy, "policy 'p' would have to name it in syscalls.allow");
}

TEST_F(RefusedCallsTest, NamesWhatHasNoName) {
  call(600);
  EXPECT_EQ(last().name, "system call 600");
}

TEST_F(RefusedCallsTest, HintsAtTheLastNewRefusalOfAFailedRun) {
  RunRecord record;
  record.status = RunStatus::exited;
  record.exit_code = 1;
  EXPECT_EQ(hint_of_refusal(record), "");
  call(SYS_mount);
  call(SYS_ptrace);
  call(SYS_mount);
  record.denied_syscalls = refused_.calls();
  EXPECT_EQ(hint_of_refusal(record),
            "the policy refused ptrace; allow it with --allow-syscalls ptrace");
  record.exit_code = 0;
  EXPECT_EQ(hint_of_refusal(record), "");
}

TEST(SyscallNames, GoThereAndBack) {
  const auto names = sandbox::syscall_names();
  EXPECT_GT(names.size(), 350U);
  for (const std::string& name : names) {
    const auto number = sandbox::syscall_number(name);
    ASSERT_TRUE(number && *number) << name;
    EXPECT_EQ(sandbox::syscall_name(**number), name);
  }
  EXPECT_FALSE(sandbox::syscall_number("no_such_call"));
  EXPECT_EQ(sandbox::syscall_name(sandbox::kNewestCall + 1), "");
}

}  // namespace
}  // namespace wardcase::supervisor
