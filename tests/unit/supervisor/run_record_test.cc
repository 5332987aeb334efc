// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/run_record.h"

#include <gtest/gtest.h>

#include <csignal>

namespace wardcase::supervisor {
namespace {

RunRecord ended(RunStatus status) {
  RunRecord record;
  record.status = status;
  return record;
}

TEST(ExitCode, IsTheProgramsOwn) {
  RunRecord record = ended(RunStatus::exited);
  record.exit_code = 3;
  EXPECT_EQ(exit_code_of(record), 3);
  EXPECT_FALSE(record.success());
  record.exit_code = 0;
  EXPECT_EQ(exit_code_of(record), 0);
  EXPECT_TRUE(record.success());
}

TEST(ExitCode, TellsTheSignalThatEndedTheProgram) {
  RunRecord record = ended(RunStatus::signaled);
  record.signal = SIGSEGV;
  EXPECT_EQ(exit_code_of(record), 139);
}

TEST(ExitCode, TellsTheSignalThatStoppedUs) {
  RunRecord record = ended(RunStatus::stopped);
  EXPECT_EQ(exit_code_of(record), 143);
  record.stop_signal = SIGINT;
  EXPECT_EQ(exit_code_of(record), 130);
}

TEST(ExitCode, IsThatOfTimeoutForLimitsThatWeHold) {
  RunRecord record = ended(RunStatus::timeout);
  record.exit_code = 0;  // its TERM handler exited with 0
  EXPECT_EQ(exit_code_of(record), 124);
  EXPECT_FALSE(record.success());
  for (const RunStatus status :
       {RunStatus::cpu_time, RunStatus::idle, RunStatus::output_limit, RunStatus::disk_limit}) {
    EXPECT_EQ(exit_code_of(ended(status)), 124) << status_name(status);
  }
}

TEST(ExitCode, TellsNotFoundFromNotExecutable) {
  RunRecord record = ended(RunStatus::cannot_execute);
  EXPECT_EQ(exit_code_of(record), 127);
  record.exit_code = 126;
  EXPECT_EQ(exit_code_of(record), 126);
}

TEST(ExitCode, HasOneForEveryOtherStatus) {
  const struct {
    RunStatus status;
    int code;
  } cases[] = {
      {RunStatus::oom, 137},          {RunStatus::denied, 159},
      {RunStatus::setup_failed, 125}, {RunStatus::invalid_request, 125},
      {RunStatus::lost, 125},         {RunStatus::install_failed, 125},
      {RunStatus::syntax_error, 1},   {RunStatus::compile_failed, 1},
      {RunStatus::running, 0},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(exit_code_of(ended(one.status)), one.code) << status_name(one.status);
  }
}

TEST(SignalName, IsThatOfTheManPage) {
  EXPECT_EQ(signal_name(SIGKILL), "SIGKILL");
  EXPECT_EQ(signal_name(SIGSYS), "SIGSYS");
  EXPECT_EQ(signal_name(SIGRTMIN), "SIGRTMIN");
  EXPECT_EQ(signal_name(SIGRTMIN + 3), "SIGRTMIN+3");
  EXPECT_EQ(signal_name(SIGRTMAX), "SIGRTMIN+30");
  EXPECT_EQ(signal_name(32), "SIG32");
}

TEST(EnforcementName, IsThatOfTheRecord) {
  EXPECT_EQ(enforcement_name(sandbox::Enforcement::cgroup2), "cgroup2");
  EXPECT_EQ(enforcement_name(sandbox::Enforcement::cgroup1), "cgroup1");
  EXPECT_EQ(enforcement_name(sandbox::Enforcement::watcher), "watcher");
  EXPECT_EQ(enforcement_name(sandbox::Enforcement::rlimit), "rlimit");
  EXPECT_EQ(enforcement_name(sandbox::Enforcement::none), "none");
}

}  // namespace
}  // namespace wardcase::supervisor
