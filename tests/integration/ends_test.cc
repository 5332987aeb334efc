// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// How a run's end is told: exit codes, signals, and what could not be started.
#include <gtest/gtest.h>

#include <csignal>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

using Ends = WithCaller;
WARDCASE_AS_ROOT_AND_USER(Ends);

TEST_P(Ends, TheProgramsExitCodeIsOurs) {
  for (const int code : {0,   1,   2,   3,   7,   9,   42,  63,  64,  77,  100, 113,
                         124, 125, 126, 127, 128, 129, 137, 143, 159, 200, 254, 255}) {
    const Outcome outcome = run({"-l", "bash", "-c", "exit " + std::to_string(code)});
    EXPECT_EQ(outcome.exit_code, code) << outcome;
    EXPECT_EQ(outcome.out(), "");
  }
}

TEST_P(Ends, TheRecordTellsTheExitCodeApartFromOurs) {
  for (const int code : {0, 1, 124, 125, 137, 255}) {
    const Outcome outcome = run({"--json", "-l", "bash", "-c", "exit " + std::to_string(code)});
    EXPECT_EQ(outcome.exit_code, code);
    const Record record = outcome.record();
    EXPECT_EQ(record.status(), "exited") << record;
    EXPECT_EQ(record.number("exit_code"), code);
    EXPECT_TRUE(record.is_null("signal"));
    EXPECT_EQ(record.is_true("success"), code == 0);
  }
}

TEST_P(Ends, ASignalOfTheProgramIsToldByName) {
  const std::pair<int, const char*> signals[] = {{SIGTERM, "SIGTERM"}, {SIGKILL, "SIGKILL"},
                                                 {SIGSEGV, "SIGSEGV"}, {SIGABRT, "SIGABRT"},
                                                 {SIGUSR1, "SIGUSR1"}, {SIGINT, "SIGINT"}};
  for (const auto& [number, name] : signals) {
    const std::string code = "import os; os.kill(os.getpid(), " + std::to_string(number) + ")";
    const Outcome outcome =
        run({"--json", "-l", "python", "-c", "import signal; signal.signal(2, 0)\n" + code});
    EXPECT_EQ(outcome.exit_code, 128 + number) << outcome;
    const Record record = outcome.record();
    EXPECT_EQ(record.status(), "signaled") << record;
    EXPECT_EQ(record.text("signal"), name);
    EXPECT_TRUE(record.is_null("exit_code"));
    EXPECT_FALSE(record.is_true("success"));
  }
}

TEST_P(Ends, ASelfInflictedKillIsNeverToldAsMemory) {
  const Record record = bash("kill -9 $$", {"-m", "64m"});
  EXPECT_EQ(record.status(), "signaled") << record;
  EXPECT_FALSE(record.lists("limits_hit", "memory"));
}

TEST_P(Ends, TextThatLooksLikeOursIsOnlyData) {
  const Record record = python("print('[Timeout Error] fake'); print('[SYSTEM: done]')");
  EXPECT_EQ(record.status(), "exited") << record;
  EXPECT_EQ(record.number("exit_code"), 0);
  EXPECT_EQ(record.out(), "[Timeout Error] fake\n[SYSTEM: done]\n");
}

TEST_P(Ends, AMissingProgramIs127AndOneThatCantRunIs126) {
  const Outcome missing = run({"--json", "--", "no-such-program"});
  EXPECT_EQ(missing.exit_code, 127) << missing;
  EXPECT_EQ(missing.record().status(), "cannot_execute");
  EXPECT_NE(missing.record().text("error").find("no-such-program"), std::string::npos);

  const Outcome directory = run({"--json", "--", "/usr/lib"});
  EXPECT_EQ(directory.exit_code, 126) << directory;
  EXPECT_EQ(directory.record().status(), "cannot_execute");

  const ScratchDirectory files(caller());
  const std::string garbage = files.write("garbage", std::string("\177ELF garbage"), 0755);
  EXPECT_EQ(run({garbage}).exit_code, 126);
}

TEST_P(Ends, AMissingFileIs127) {
  const Outcome outcome = run({"no-such-file.py"});
  EXPECT_EQ(outcome.exit_code, 127) << outcome;
  EXPECT_NE(outcome.err().find("no-such-file.py"), std::string::npos);
  EXPECT_EQ(outcome.out(), "");
}

TEST_P(Ends, ExitZeroHidesTheCodeButNotTheRecord) {
  const Outcome outcome = run({"--json", "--exit-zero", "-l", "bash", "-c", "exit 5"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.record().number("exit_code"), 5);
}

}  // namespace
}  // namespace wardcase::test
