// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// System calls that the policy refuses, as the record and our own lines tell of them.
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

class Refusals : public WithCaller {
 protected:
  Refusals() : files_(caller()) {}

  [[nodiscard]] std::string policy(std::string_view text) const {
    return files_.write("p.toml", "schema = 1\n" + std::string(text));
  }
  // The hostile program `attempt`, which makes the one call of this name.
  [[nodiscard]] static std::vector<std::string> attempt(const std::string& call) {
    return {Workplace::get().program("attempt").string(), call};
  }
  [[nodiscard]] static std::vector<std::string> with(std::vector<std::string> flags,
                                                     const std::string& call) {
    for (const std::string& word : attempt(call)) flags.push_back(word);
    return flags;
  }
  // The same attempt of a wardcase that a test program has executed.
  [[nodiscard]] static Record record_under(const std::vector<std::string>& around,
                                           std::vector<std::string> flags,
                                           const std::string& call) {
    std::vector<std::string> argv = {Workplace::get().program(around.front()).string()};
    argv.insert(argv.end(), around.begin() + 1, around.end());
    argv.push_back(Workplace::get().command().string());
    argv.insert(argv.end(), {"run", "--json"});
    for (const std::string& word : with(std::move(flags), call)) argv.push_back(word);
    return Command::other(caller(), std::move(argv)).finish().record();
  }

 private:
  ScratchDirectory files_;
};
WARDCASE_AS_ROOT_AND_USER(Refusals);

constexpr std::string_view kKillsAcct =
    "[syscalls]\ndeny = [{ call = 'acct', as = 'kill', why = 'only a test' }]";

std::size_t occurrences(const std::string& text, std::string_view wanted) {
  std::size_t count = 0;
  for (std::size_t at = text.find(wanted); at != std::string::npos;
       at = text.find(wanted, at + 1)) {
    ++count;
  }
  return count;
}

TEST_P(Refusals, StandInTheRecordByName) {
  const Record record = hostile("attempt");
  EXPECT_EQ(record.denied("mount"), 1) << record;
  EXPECT_EQ(record.denied("ptrace"), 2);
  EXPECT_EQ(record.denied("ioctl"), 6);
  // What libraries probe for is not refused, it is not there.
  for (const char* probed : {"clone3", "io_uring_setup", "socket"}) {
    EXPECT_EQ(record.denied(probed), std::nullopt) << probed;
  }
  EXPECT_FALSE(record.is_degraded("syscall_notification"));
}

TEST_P(Refusals, NoneIsAnEmptyList) {
  const Record record = bash("true");
  EXPECT_NE(record.serialized().find("\"denied_syscalls\":[]"), std::string::npos) << record;
}

TEST_P(Refusals, AreToldInOneLineAName) {
  const Outcome outcome = run(attempt("ptrace_traceme"));
  EXPECT_EQ(outcome.err(),
            "wardcase: refused: ptrace (PTRACE_TRACEME): reads or changes another process; "
            "allow it with --allow-syscalls ptrace\n");
  EXPECT_EQ(run(with({"-q"}, "ptrace_traceme")).err(), "");
  const std::string all = run({Workplace::get().program("attempt").string()}).err();
  EXPECT_EQ(occurrences(all, "refused: "), 9U) << all;
  EXPECT_EQ(occurrences(all, "more system calls"), 1U) << all;
}

TEST_P(Refusals, AreTheHintOfARunThatFailed) {
  const Record record =
      python("import ctypes, sys\nsys.exit(ctypes.CDLL(None).unshare(0x10000000) == -1)");
  EXPECT_EQ(record.number("exit_code"), 1) << record;
  EXPECT_EQ(record.text("hint"),
            "the policy refused unshare; a policy can allow it, by a reason in "
            "[dangerous.syscalls] unshare");
}

TEST_P(Refusals, AKillAnswerEndsTheRunAsDenied) {
  const std::string file = policy(kKillsAcct);
  const Record record = record_of(with({"--policy", file}, "acct"));
  EXPECT_EQ(record.status(), "denied") << record;
  EXPECT_EQ(record.denied("acct"), 1);
  EXPECT_EQ(record.text("error"), "policy 'p' ends the run at acct: only a test");
  EXPECT_EQ(record.out(), "armed\n");  // no answer came
  EXPECT_EQ(run(with({"--policy", file}, "acct")).exit_code, 159);
  EXPECT_EQ(record_of(attempt("acct")).status(), "exited");
}

TEST_P(Refusals, AKillAnswerInAGrandchildEndsTheWholeRun) {
  const Record record = bash(
      "(/a acct; echo went on); echo and on",
      {"--policy", policy(kKillsAcct), "-v", Workplace::get().program("attempt").string() + ":/a"});
  EXPECT_EQ(record.status(), "denied") << record;
  EXPECT_EQ(record.out(), "armed\n");
}

TEST_P(Refusals, AnAllowListMayKillAllElse) {
  const std::string file = policy(
      "[syscalls]\ndefault = 'kill'\nallow = ['@basic-io', '@files', '@memory', '@threads', "
      "'@processes', '@signals', '@time', '@identity']");
  EXPECT_EQ(record_of({"--policy", file, "--", "/bin/echo", "hi"}).out(), "hi\n");
  const Record record = python("import socket; socket.socket()", {"--policy", file});
  EXPECT_EQ(record.status(), "denied") << record;
  EXPECT_EQ(record.denied("socket"), 1);
}

TEST_P(Refusals, WhereAnotherListensTheErrnoStaysAndTheRecordSaysSo) {
  const Record record = record_under({"under_listener"}, {}, "mount");
  EXPECT_EQ(record.out(), "armed\nmount EPERM\n") << record;
  EXPECT_TRUE(record.is_null("denied_syscalls"));
  EXPECT_TRUE(record.is_degraded("syscall_notification"));
  const Record killed = record_under({"under_listener"}, {"--policy", policy(kKillsAcct)}, "acct");
  EXPECT_EQ(killed.out(), "armed\nacct signal " + std::to_string(SIGSYS) + "\n") << killed;
}

TEST_P(Refusals, OnAKernelWithoutListenersTheErrnoStaysToo) {
  const Record record = record_under({"older_kernel", "no-listener"}, {}, "mount");
  EXPECT_EQ(record.out(), "armed\nmount EPERM\n") << record;
  EXPECT_TRUE(record.is_null("denied_syscalls"));
  EXPECT_TRUE(record.is_degraded("syscall_notification"));
}

TEST_P(Refusals, OnAKernelWithoutKillableWaitsTheyAreToldAllTheSame) {
  const Record record = record_under({"older_kernel", "no-killable"}, {}, "mount");
  EXPECT_EQ(record.out(), "armed\nmount EPERM\n") << record;
  EXPECT_EQ(record.denied("mount"), 1);
}

TEST_P(Refusals, WhatCantBeAnsweredIsRefusedAllTheSame) {
  const Record record = record_under({"older_kernel", "no-receive"}, {}, "mount");
  EXPECT_EQ(record.out(), "armed\nmount ENOSYS\n") << record;
  EXPECT_TRUE(record.is_null("denied_syscalls"));
  EXPECT_TRUE(record.is_degraded("syscall_notification"));
}

TEST_P(Refusals, TheFewestOpenFilesLeaveRoomForTheListener) {
  const Record record = record_of(with({"--open-files", "8"}, "mount"));
  EXPECT_EQ(record.denied("mount"), 1) << record;
}

// The kernel holds by the sender's limit how many descriptors of one user are on their way.
TEST_P(Refusals, ManyStartsAtOnceWithFewOpenFilesAllWork) {
  const std::string start =
      Workplace::get().command().string() + " run --open-files 8 -- /bin/sh -c 'ulimit -n'";
  const Outcome outcome =
      Command::other(caller(), {"/bin/sh", "-c",
                                "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do " + start +
                                    " & done; wait"})
          .finish();
  EXPECT_EQ(outcome.err(), "");
  EXPECT_EQ(occurrences(outcome.out(), "8\n"), 16U) << outcome;
}

TEST_P(Refusals, ACallThatAStartNeedsCantBeDenied) {
  for (const std::string call : {"execve", "sendmsg", "prlimit64"}) {
    const Outcome outcome =
        run({"--policy", policy("[syscalls]\ndeny = ['" + call + "']"), "--", "/bin/true"});
    EXPECT_EQ(outcome.exit_code, 125);
    EXPECT_NE(
        outcome.err().find("syscalls.deny '" + call + "': no program could be started without it"),
        std::string::npos)
        << outcome;
  }
}

TEST_P(Refusals, AreOpenedByFlagWhereThePolicyLetsThem) {
  const Record closed = record_of(attempt("ptrace_traceme"));
  EXPECT_EQ(closed.out(), "armed\nptrace_traceme EPERM\n") << closed;
  const Record open = record_of(with({"--allow-syscalls", "personality,ptrace"}, "ptrace_traceme"));
  EXPECT_EQ(open.out(), "armed\nptrace_traceme OK\n") << open;
  EXPECT_EQ(open.denied("ptrace"), std::nullopt);
  EXPECT_TRUE(open.lists("isolation.effective", "allow_syscalls=ptrace")) << open;
}

TEST_P(Refusals, AreNotOpenedWhereThePolicyDoesNotLetThem) {
  struct Case {
    std::vector<std::string> flags;
    std::string says;
  };
  const std::string denies = policy("[syscalls]\ndeny = ['ptrace']");
  for (const Case& one :
       {Case{{"--allow-syscalls", "mount"},
             "--allow-syscalls 'mount': policy 'default' does not let it be opened; it would have "
             "to stand in syscalls.openable there"},
        Case{{"--allow-syscalls", "ptrcae"},
             "--allow-syscalls 'ptrcae': no such system call; did you mean 'ptrace'?"},
        Case{{"--allow-syscalls", "ptrace,"}, "--allow-syscalls '': no such system call"},
        Case{
            {"--allow-syscalls", "prlimit64"},
            "--allow-syscalls 'prlimit64': policy 'default' has no rule for it that can be lifted"},
        Case{{"--policy", denies, "--allow-syscalls", "ptrace"},
             "--allow-syscalls 'ptrace': policy 'p' denies it (syscalls.deny)"},
        Case{{"--policy", "base", "--allow-syscalls", "ptrace"},
             "--allow-syscalls 'ptrace': policy 'base' does not let it be opened"}}) {
    const Outcome outcome = run(with(one.flags, "ptrace_traceme"));
    EXPECT_EQ(outcome.exit_code, 125);
    EXPECT_NE(outcome.err().find(one.says), std::string::npos) << outcome;
  }
}

}  // namespace
}  // namespace wardcase::test
