// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Programs that turn on what refuses their calls: the supervisor answers them one by
// one, and must neither be held up nor be talked to by anybody else.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/hostile_test.h"

namespace wardcase::test {
namespace {

using HostileRefusals = HostileTest;
WARDCASE_AS_ROOT_AND_USER(HostileRefusals);

TEST_P(HostileRefusals, ThreadsOfManyProcessesAreAllAnswered) {
  declare_attack("refused calls from many threads at once, one answered wrongly",
                 "each notification is answered with its own errno");
  const Record record = hostile("refusal_storm", {"8", "4", "10"});
  EXPECT_EQ(record.out(), "armed\nwrong 0\n") << record;
  EXPECT_EQ(record.denied("add_key"), 8 * 4 * 10) << record;
  // Without the policy the kernel itself finds fault with the arguments.
  EXPECT_TRUE(control_works(outside("refusal_storm", {"1", "1", "1"}).out() == "armed\nwrong 1\n"));
}

TEST_P(HostileRefusals, AStormDelaysNoLimitAndGrowsNoMemory) {
  declare_attack("a storm of refused calls, to delay the limits",
                 "one answer a turn of the loop, 2,000 a second; one entry a name");
  no_control("the supervisor can't be had without its bound");
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
  declare_attack("a storm of refused calls, to starve the output",
                 "one answer a turn of the loop, 2,000 a second");
  no_control("the supervisor can't be had without its bound");
  const std::string storm = Workplace::get().program("refusal_storm").string();
  const Record record =
      bash("/storm/refusal_storm 4 4 0 & head -c 50000000 /dev/zero | tr '\\0' x; kill $!",
           {"-v", std::filesystem::path(storm).parent_path().string() + ":/storm", "--timeout",
            "30s", "--output-limit", "100m"});
  EXPECT_EQ(record.status(), "exited") << record;
  EXPECT_GE(record.number("stdout_bytes"), 50'000'000);
}

TEST_P(HostileRefusals, CallersMayBeKilledAndSignalledMeanwhile) {
  declare_attack("kill and signal threads that wait for an answer",
                 "an answer to nobody is no error; waits are killable");
  const Record record = hostile("refusal_killed");
  EXPECT_EQ(record.out(), "armed\nkilled: all\nwrong answers: 0\nsignals: many\n") << record;
  EXPECT_EQ(record.number("exit_code"), 0);
  EXPECT_TRUE(control_works(has_text(outside("refusal_killed").out(), "wrong answers: 300")));
}

TEST_P(HostileRefusals, TheListenerIsOutOfReach) {
  declare_attack("get hold of the listener, or talk the filter out of its answer",
                 "close-on-exec; pidfd_getfd and listeners refused; filters only add");
  const Record record = hostile("listener_thief");
  EXPECT_EQ(record.out(), "armed\n") << record;
  EXPECT_EQ(record.denied("seccomp"), 1) << record;
  EXPECT_EQ(record.denied("unshare"), 3) << record;
  EXPECT_EQ(record.denied("pidfd_getfd"), 64) << record;
  const std::string control = outside("listener_thief", {"own"}).out();
  EXPECT_TRUE(control_works(has_text(control, "found anon_inode:seccomp notify"))) << control;
  EXPECT_TRUE(control_works(has_text(control, "stole "))) << control;
}

}  // namespace
}  // namespace wardcase::test
