// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Programs that will not end: everything of a run is gone when its record is given.
// That nothing is left is checked after each test (leak_check.h).
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include "tests/support/hostile_test.h"

namespace wardcase::test {
namespace {

using namespace std::chrono_literals;

class HostileLifetime : public HostileTest {
 protected:
  HostileLifetime() : shared_(caller()) {}
  [[nodiscard]] std::string shared_flag() const { return shared_.path().string() + ":/out:rw"; }
  [[nodiscard]] bool has_late_file() const { return std::filesystem::exists(late()); }
  [[nodiscard]] std::filesystem::path late() const { return shared_.path() / "late"; }
  // Whether the program outlives a SIGTERM where nobody follows it up.
  [[nodiscard]] static bool outlives_sigterm(const std::string& name) {
    Running running = Command::other(caller(), {Workplace::get().program(name).string()}).start();
    if (!running.wait_for(Channel::out, "armed\n")) return false;
    running.signal(SIGTERM);
    return !running.ends_unread(300ms);
  }
  // How long somebody waits outside who waits for the end of the program's output.
  [[nodiscard]] static std::chrono::milliseconds wait_for_output(const std::string& name,
                                                                 const std::string& argument) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(outside(name, {argument}).out(), "armed\n");
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                                 begin);
  }

 private:
  ScratchDirectory shared_;
};
WARDCASE_AS_ROOT_AND_USER(HostileLifetime);

TEST_P(HostileLifetime, ADetachedGrandchildDiesWithItsRun) {
  declare_attack("outlive the time limit: a grandchild in a session of its own",
                 "init's death ends its pid namespace");
  const Record control = hostile("detached_grandchild", {"/out/late", "100"},
                                 {"--timeout", "600ms", "--grace", "100ms", "-v", shared_flag()});
  EXPECT_EQ(control.status(), "timeout") << control;
  EXPECT_TRUE(control_works(has_late_file()));
  std::filesystem::remove(late());

  const Record record = hostile("detached_grandchild", {"/out/late", "1500"},
                                {"--timeout", "300ms", "--grace", "100ms", "-v", shared_flag()});
  EXPECT_EQ(record.out(), "armed\n") << record;
  EXPECT_EQ(record.status(), "timeout");
  EXPECT_EQ(list_descendants(), "");
  std::this_thread::sleep_for(1500ms);
  EXPECT_FALSE(has_late_file());
}

TEST_P(HostileLifetime, AProgramThatIgnoresEverySignalIsKilledAfterTheGrace) {
  declare_attack("ignore every signal that can be ignored", "SIGKILL after the grace");
  const Record record = hostile("term_ignorer", {}, {"--timeout", "200ms", "--grace", "300ms"});
  EXPECT_EQ(record.out(), "armed\n") << record;
  EXPECT_EQ(record.status(), "timeout");
  EXPECT_EQ(record.text("signal"), "SIGKILL");
  EXPECT_GE(record.number("duration_ms"), 500);
  EXPECT_TRUE(control_works(outlives_sigterm("term_ignorer")));
}

TEST_P(HostileLifetime, AProgramThatStopsItselfIsKilledAllTheSame) {
  declare_attack("be stopped, again and again", "SIGCONT with SIGTERM, then SIGKILL");
  const Record record = hostile("stopped_self", {}, {"--timeout", "200ms", "--grace", "100ms"});
  EXPECT_EQ(record.out(), "armed\n") << record;
  EXPECT_EQ(record.status(), "timeout");
  EXPECT_TRUE(control_works(outlives_sigterm("stopped_self")));
}

TEST_P(HostileLifetime, AProgramWhoseFirstThreadIsGoneIsEndedAllTheSame) {
  declare_attack("go on in a thread when the first one has ended",
                 "signals go to the process and its group, then init dies");
  const Record record = hostile("leader_gone", {}, {"--timeout", "200ms", "--grace", "100ms"});
  EXPECT_EQ(record.out(), "armed\n") << record;
  EXPECT_EQ(record.status(), "timeout");
  EXPECT_TRUE(control_works(outlives_sigterm("leader_gone")));
}

TEST_P(HostileLifetime, ClosingAllOutputDoesNotEscapeTheTimeout) {
  declare_attack("close all output, to look ended", "the end is init's word, not an end of file");
  const Record control = hostile("stdio_closer", {"/out/late", "100"},
                                 {"--timeout", "600ms", "--grace", "100ms", "-v", shared_flag()});
  EXPECT_EQ(control.status(), "timeout") << control;
  EXPECT_TRUE(control_works(has_late_file()));
  std::filesystem::remove(late());

  const Record record = hostile("stdio_closer", {"/out/late", "1000"},
                                {"--timeout", "300ms", "--grace", "100ms", "-v", shared_flag()});
  EXPECT_EQ(record.out(), "armed\n") << record;
  EXPECT_EQ(record.status(), "timeout");
  std::this_thread::sleep_for(1500ms);
  EXPECT_FALSE(has_late_file());
}

TEST_P(HostileLifetime, ASilentChildThatHoldsTheOutputDoesNotDelayTheEnd) {
  declare_attack("hold the output open by a silent child", "the run ends with its first process");
  const Record record = hostile("pipe_holder", {"30000"}, {"--timeout", "20s"});
  EXPECT_EQ(record.out(), "armed\n") << record;
  EXPECT_EQ(record.status(), "exited");
  EXPECT_GE(record.number("leftover_processes"), 1);
  EXPECT_LT(record.number("duration_ms"), 10'000);
  EXPECT_TRUE(control_works(wait_for_output("pipe_holder", "300") >= 300ms));
}

TEST_P(HostileLifetime, OutputQueuedInASocketDoesNotDelayTheEnd) {
  declare_attack("hold the output open in a socket's queue",
                 "pipes are read until they are empty, not to their end");
  const Record record = hostile("queued_pipe", {"30000"}, {"--timeout", "20s"});
  EXPECT_EQ(record.out(), "armed\n") << record;
  EXPECT_EQ(record.status(), "exited");
  EXPECT_LT(record.number("duration_ms"), 10'000);
  EXPECT_TRUE(control_works(wait_for_output("queued_pipe", "300") >= 300ms));
}

// It needs no memory of its own to do so: see the bombs of kernel memory.
TEST_P(HostileLifetime, TheHostsMemoryKillerTakesTheBoxFirst) {
  declare_attack("have the host's out-of-memory killer take others",
                 "init has the highest score, and its death ends all");
  no_control("the host would run out of memory");
  Running running = run_command({"-l", "bash", "-c",
                                 "echo 0 >/proc/self/oom_score_adj; echo 0 >/proc/1/oom_score_adj;"
                                 "echo armed; sleep 30"})
                        .start();
  ASSERT_TRUE(running.wait_for(Channel::out, "armed\n"));
  const std::string command = std::to_string(running.pid());
  const std::string init = std::to_string(init_of(running.pid()));
  EXPECT_EQ(read_file("/proc/" + init + "/oom_score_adj"), "1000\n");
  EXPECT_NE(read_file("/proc/" + command + "/oom_score_adj"), "1000\n");
  running.signal(SIGTERM);
  EXPECT_EQ(running.finish().exit_code, 128 + SIGTERM);
}

TEST_P(HostileLifetime, InitSurvivesWhatTheProgramDoesToIt) {
  declare_attack("signal init, take its files and its processor away",
                 "pid 1 takes no signal from inside; the filter protects it");
  no_control("outside, pid 1 is the host's");
  const Record record = hostile("init_killer");
  EXPECT_EQ(record.out(), "armed\nrefused\nrefused\n") << record;
  EXPECT_EQ(record.status(), "exited");
  EXPECT_EQ(record.number("exit_code"), 7);
}

}  // namespace
}  // namespace wardcase::test
