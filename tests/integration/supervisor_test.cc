// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// The supervisor's own end: signals, death, and what the next start finds.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

using namespace std::chrono_literals;

using Supervisor = WithCaller;
WARDCASE_AS_ROOT_AND_USER(Supervisor);

constexpr const char* kFamily =
    "import subprocess, sys, time\n"
    "subprocess.Popen(['setsid', 'sleep', '50'])\n"
    "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(50)'])\n"
    "print('up')\ntime.sleep(60)";

TEST_P(Supervisor, ASignalStopsTheRunAndIsTheExitCode) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    Running running = run_command({"--status-fd", std::to_string(kStatusFd), "--grace", "200ms",
                                   "-l", "python", "-c", kFamily})
                          .status_channel()
                          .start();
    ASSERT_TRUE(running.wait_for(Channel::out, "up"));
    running.signal(number);
    const Outcome outcome = running.finish();
    EXPECT_EQ(outcome.exit_code, 128 + number) << outcome;
    EXPECT_NE(outcome.status().find("\"status\":\"stopped\""), std::string::npos) << outcome;
    EXPECT_EQ(list_descendants(), "");
  }
}

TEST_P(Supervisor, AStopGivesTheProgramItsGrace) {
  Running running = run_command({"--grace", "10s", "-l", "bash", "-c",
                                 "trap 'echo bye; exit 0' TERM; echo up; sleep 50 & wait"})
                        .start();
  ASSERT_TRUE(running.wait_for(Channel::out, "up"));
  running.signal(SIGTERM);
  const Outcome outcome = running.finish();
  EXPECT_EQ(outcome.out(), "up\nbye\n");
  EXPECT_EQ(outcome.exit_code, 143);
  EXPECT_LT(outcome.elapsed, 9s);
}

// As nohup does, and a script for its background jobs.
TEST_P(Supervisor, WhatTheCallerIgnoresStopsNothing) {
  for (const int number : {SIGHUP, SIGINT}) {
    const auto before = std::signal(number, SIG_IGN);
    Running running = run_command({"-l", "bash", "-c", "echo up; sleep 1; echo done"}).start();
    (void)std::signal(number, before);
    ASSERT_TRUE(running.wait_for(Channel::out, "up"));
    running.signal(number);
    const Outcome outcome = running.finish();
    EXPECT_EQ(outcome.out(), "up\ndone\n") << outcome;
    EXPECT_EQ(outcome.exit_code, 0) << outcome;
  }
}

TEST_P(Supervisor, OneSignalEndsItThoughNobodyReads) {
  Running running = run_command({"--grace", "200ms", "--", "yes"}).start();
  EXPECT_FALSE(running.ends_unread(1s));  // all pipes are full now
  running.signal(SIGTERM);
  EXPECT_TRUE(running.ends_unread(20s));
  EXPECT_EQ(running.finish().exit_code, 143);
}

TEST_P(Supervisor, ASecondSignalSkipsTheGrace) {
  Running running =
      run_command({"--grace", "30s", "-l", "bash", "-c", "trap '' TERM; echo up; sleep 50"})
          .start();
  ASSERT_TRUE(running.wait_for(Channel::out, "up"));
  running.signal(SIGTERM);
  EXPECT_FALSE(running.ends_unread(1s));
  running.signal(SIGTERM);
  const Outcome outcome = running.finish();
  EXPECT_EQ(outcome.exit_code, 143) << outcome;
  EXPECT_LT(outcome.elapsed, 20s);
}

TEST_P(Supervisor, WhenItIsKilledTheBoxDiesAndTheNextStartSweeps) {
  const std::string cgroups_before = list_cgroups();
  const std::string files_before = list_runtime_files();
  {
    Running running = run_command({"-l", "python", "-c", kFamily}).start();
    ASSERT_TRUE(running.wait_for(Channel::out, "up"));
    running.signal(SIGKILL);
    EXPECT_EQ(running.finish().signal, SIGKILL);
  }
  EXPECT_TRUE(eventually([] { return list_descendants().empty(); })) << list_descendants();
  EXPECT_EQ(run({"--", "true"}).exit_code, 0);
  EXPECT_EQ(list_cgroups(), cgroups_before);
  EXPECT_EQ(list_runtime_files(), files_before);
}

TEST_P(Supervisor, TheSweepLeavesOtherRunsAlone) {
  Running other = run_command({"-l", "bash", "-c", "echo up; sleep 2; echo still here"}).start();
  ASSERT_TRUE(other.wait_for(Channel::out, "up"));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run({"--", "true"}).exit_code, 0);
  const Outcome outcome = other.finish();
  EXPECT_EQ(outcome.out(), "up\nstill here\n");
  EXPECT_EQ(outcome.exit_code, 0);
}

TEST_P(Supervisor, IgnoredSignalsOfTheCallerDoNotConfuseIt) {
  const Outcome outcome =
      Command::other(caller(), {"/usr/bin/env", "--ignore-signal=CHLD", "--ignore-signal=USR1",
                                Workplace::get().command().string(), "run", "-l", "bash", "-c",
                                "grep SigIgn /proc/self/status; exit 6"})
          .finish();
  EXPECT_EQ(outcome.exit_code, 6) << outcome;
  EXPECT_EQ(outcome.out(), "SigIgn:\t0000000000000000\n");
}

TEST_P(Supervisor, FrozenByTheTerminalItGoesOnLater) {
  Running running =
      run_command({"--timeout", "30s", "-l", "bash", "-c", "echo up; sleep 0.3; echo on"}).start();
  ASSERT_TRUE(running.wait_for(Channel::out, "up"));
  running.signal(SIGTSTP);
  EXPECT_FALSE(running.ends_unread(1s));
  running.signal(SIGCONT);
  const Outcome outcome = running.finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(outcome.out(), "up\non\n");
}

}  // namespace
}  // namespace wardcase::test
