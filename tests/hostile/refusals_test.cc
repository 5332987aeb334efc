// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Programs that turn on what refuses their calls: the supervisor answers them one by
// one, and must neither be held up nor be talked to by anybody else.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

using HostileRefusals = WithCaller;
WARDCASE_AS_ROOT_AND_USER(HostileRefusals);

Outcome outside(Caller caller, const std::string& name, std::vector<std::string> arguments) {
  std::vector<std::string> argv = {Workplace::get().program(name).string()};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return Command::other(caller, std::move(argv)).finish();
}

TEST_P(HostileRefusals, ThreadsOfManyProcessesAreAllAnswered) {
  const Record record = hostile("refusal_storm", {"8", "4", "10"});
  EXPECT_EQ(record.out(), "armed\nwrong 0\n") << record;
  EXPECT_EQ(record.denied("add_key"), 8 * 4 * 10) << record;
  // Without the policy the kernel itself finds fault with the arguments.
  EXPECT_EQ(outside(caller(), "refusal_storm", {"1", "1", "1"}).out(), "armed\nwrong 1\n");
}

TEST_P(HostileRefusals, AStormDelaysNoLimitAndGrowsNoMemory) {
  Running running =
      run_command({"--timeout", "2s", "--grace", "1ms",
                   Workplace::get().program("refusal_storm").string(), "16", "4", "0"})
          .start();
  ASSERT_TRUE(running.wait_for(Channel::out, "armed"));
  const auto resident = [&] {
    const std::string text = read_file("/proc/" + std::to_string(running.pid()) + "/status");
    return std::stol(text.substr(text.find("VmRSS:") + 6));
  };
  const long before = resident();
  EXPECT_FALSE(running.ends_unread(std::chrono::seconds(1)));
  EXPECT_LT(resident(), before + 1024) << "KiB";
  const Outcome outcome = running.finish();
  EXPECT_EQ(outcome.exit_code, 124) << outcome;
  EXPECT_LT(outcome.elapsed, std::chrono::seconds(10));
  EXPECT_NE(outcome.err().find("refused: add_key"), std::string::npos) << outcome;
}

TEST_P(HostileRefusals, AStormHoldsUpNoOutput) {
  const std::string storm = Workplace::get().program("refusal_storm").string();
  const Record record =
      bash("/storm/refusal_storm 4 4 0 & head -c 50000000 /dev/zero | tr '\\0' x; kill $!",
           {"-v", std::filesystem::path(storm).parent_path().string() + ":/storm", "--timeout",
            "30s", "--output-limit", "100m"});
  EXPECT_EQ(record.status(), "exited") << record;
  EXPECT_GE(record.number("stdout_bytes"), 50'000'000);
}

TEST_P(HostileRefusals, CallersMayBeKilledAndSignalledMeanwhile) {
  const Record record = hostile("refusal_killed");
  EXPECT_EQ(record.out(), "armed\nkilled: all\nwrong answers: 0\nsignals: many\n") << record;
  EXPECT_EQ(record.number("exit_code"), 0);
  EXPECT_NE(outside(caller(), "refusal_killed", {}).out().find("wrong answers: 300"),
            std::string::npos);
}

TEST_P(HostileRefusals, TheListenerIsOutOfReach) {
  const Record record = hostile("listener_thief");
  EXPECT_EQ(record.out(), "armed\n") << record;
  EXPECT_EQ(record.denied("seccomp"), 1) << record;
  EXPECT_EQ(record.denied("unshare"), 3) << record;
  EXPECT_EQ(record.denied("pidfd_getfd"), 64) << record;
  const std::string control = outside(caller(), "listener_thief", {"own"}).out();
  EXPECT_NE(control.find("found anon_inode:seccomp notify"), std::string::npos) << control;
  EXPECT_NE(control.find("stole "), std::string::npos) << control;
}

}  // namespace
}  // namespace wardcase::test
