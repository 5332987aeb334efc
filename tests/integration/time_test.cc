// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Limits of time, and what is left when they are over.
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

using namespace std::chrono_literals;

class Time : public WithCaller {
 protected:
  Time() : shared_(caller()) {}
  [[nodiscard]] std::string shared_flag() const { return shared_.path().string() + ":/out:rw"; }
  [[nodiscard]] bool has_late_file() const {
    return std::filesystem::exists(shared_.path() / "late");
  }

 private:
  ScratchDirectory shared_;
};
WARDCASE_AS_ROOT_AND_USER(Time);

// Leaves a child that writes a file after 1.3 seconds.
constexpr const char* kLateChild =
    "import subprocess, sys, time\n"
    "subprocess.Popen([sys.executable, '-c',"
    " \"import time; time.sleep(1.3); open('/out/late', 'w').close()\"])\n"
    "time.sleep(60)\n";

TEST_P(Time, ATimeoutEndsChildrenToo) {
  const Outcome outcome = run({"--json", "--timeout", "500ms", "--grace", "100ms", "-v",
                               shared_flag(), "-l", "python", "-c", kLateChild});
  EXPECT_EQ(outcome.exit_code, 124);
  const Record record = outcome.record();
  EXPECT_EQ(record.status(), "timeout") << record;
  EXPECT_GE(record.number("duration_ms"), 500);
  EXPECT_LT(outcome.elapsed, 5500ms);
  EXPECT_TRUE(record.lists("limits_hit", "timeout"));
  EXPECT_EQ(list_descendants(), "");
  std::this_thread::sleep_for(1500ms);
  EXPECT_FALSE(has_late_file());
}

TEST_P(Time, WithALongerTimeoutTheChildDoesItsWork) {
  (void)python(kLateChild, {"--timeout", "6s", "--grace", "100ms", "-v", shared_flag()});
  EXPECT_TRUE(has_late_file());
}

TEST_P(Time, StoppingEndsChildrenToo) {
  Running running = run_command({"-v", shared_flag(), "--grace", "100ms", "-l", "python", "-c",
                                 std::string("print('up')\n") + kLateChild})
                        .start();
  ASSERT_TRUE(running.wait_for(Channel::out, "up"));
  running.signal(SIGTERM);
  const Outcome outcome = running.finish();
  EXPECT_EQ(outcome.exit_code, 143) << outcome;
  EXPECT_EQ(list_descendants(), "");
  std::this_thread::sleep_for(1500ms);
  EXPECT_FALSE(has_late_file());
}

TEST_P(Time, ABackgroundSessionDoesNotOutliveTheProgram) {
  const Record record = bash("setsid bash -c 'sleep 1.3; : > /out/late' >/dev/null 2>&1 & echo ok",
                             {"--timeout", "20s", "-v", shared_flag()});
  EXPECT_EQ(record.status(), "exited") << record;
  EXPECT_EQ(record.number("exit_code"), 0);
  EXPECT_EQ(record.out(), "ok\n");
  EXPECT_GE(record.number("leftover_processes"), 1);
  std::this_thread::sleep_for(1500ms);
  EXPECT_FALSE(has_late_file());
}

TEST_P(Time, ABackgroundChildWithTheOutputDoesNotDelayTheEnd) {
  const Record record = bash("sleep 30 & echo done", {"--timeout", "25s"});
  EXPECT_EQ(record.status(), "exited") << record;
  EXPECT_EQ(record.out(), "done\n");
  EXPECT_LT(record.number("duration_ms"), 6000);
}

TEST_P(Time, ClosingTheOutputDoesNotEscapeTheTimeout) {
  const Record record = python(
      "import os, time\nos.close(1); os.close(2)\ntime.sleep(1.5)\nopen('/out/late', 'w').close()",
      {"--timeout", "500ms", "--grace", "100ms", "-v", shared_flag()});
  EXPECT_EQ(record.status(), "timeout") << record;
  EXPECT_EQ(record.out(), "");
  std::this_thread::sleep_for(1300ms);
  EXPECT_FALSE(has_late_file());
}

TEST_P(Time, WhatWasWrittenBeforeTheTimeoutIsKept) {
  const Record record =
      bash("printf tail; sleep 30 & sleep 60", {"--timeout", "500ms", "--grace", "100ms"});
  EXPECT_EQ(record.status(), "timeout") << record;
  EXPECT_EQ(record.out(), "tail");
}

TEST_P(Time, TheTermHandlerRunsAndItIsATimeoutAllTheSame) {
  const Record record = bash("trap 'echo cleaned; exit 0' TERM; echo up; sleep 60 & wait",
                             {"--timeout", "700ms", "--grace", "5s"});
  EXPECT_EQ(record.status(), "timeout") << record;
  EXPECT_EQ(record.out(), "up\ncleaned\n");
  EXPECT_LT(record.number("duration_ms"), 5500);
}

TEST_P(Time, WhoIgnoresTermIsKilledWhenTheGraceIsOver) {
  const Record record =
      bash("trap '' TERM; echo up; sleep 60", {"--timeout", "500ms", "--grace", "500ms"});
  EXPECT_EQ(record.status(), "timeout") << record;
  EXPECT_EQ(record.text("signal"), "SIGKILL");
  EXPECT_GE(record.number("duration_ms"), 1000);
  EXPECT_LT(record.number("duration_ms"), 6000);
}

TEST_P(Time, CodeThatNeverReturnsToTheInterpreterIsEnded) {
  for (const char* code : {"x = 7 ** (10**8)", "import re; re.match(r'(a+)+$', 'a' * 40 + 'b')"}) {
    const Record record = python(code, {"--timeout", "500ms", "--grace", "100ms"});
    EXPECT_EQ(record.status(), "timeout") << record;
    EXPECT_LT(record.number("duration_ms"), 5500);
  }
}

TEST_P(Time, ProcessorTimeOfTheWholeTreeIsLimited) {
  const Record record = bash("for i in 1 2; do (while :; do :; done) & done; wait",
                             {"--cpu-time", "500ms", "--timeout", "20s", "--grace", "100ms"});
  EXPECT_EQ(record.status(), "cpu_time") << record;
  EXPECT_GE(record.number("cpu_ms"), 400);
  EXPECT_TRUE(record.lists("limits_hit", "cpu_time"));
}

TEST_P(Time, SilenceIsLimitedAndOutputResetsIt) {
  const Record record = bash("for i in 1 2 3 4; do echo $i; sleep 0.3; done; sleep 60",
                             {"--idle-timeout", "900ms", "--grace", "100ms", "--timeout", "20s"});
  EXPECT_EQ(record.status(), "idle") << record;
  EXPECT_EQ(record.out(), "1\n2\n3\n4\n");
  EXPECT_TRUE(record.lists("limits_hit", "idle_timeout"));
}

TEST_P(Time, TheReasonIsSaidOnStderrWithTheOption) {
  const Outcome outcome = run({"--timeout", "300ms", "-l", "bash", "-c", "sleep 20"});
  EXPECT_EQ(outcome.exit_code, 124);
  EXPECT_NE(outcome.err().find("wardcase: "), std::string::npos) << outcome;
  EXPECT_NE(outcome.err().find("--timeout"), std::string::npos) << outcome;
  EXPECT_EQ(run({"-q", "--timeout", "300ms", "-l", "bash", "-c", "sleep 20"}).err(), "");
}

}  // namespace
}  // namespace wardcase::test
