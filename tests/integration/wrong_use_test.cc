// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Wrong use: 125, one line that names the option, and nothing runs.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

class WrongUse : public WithCaller {
 protected:
  WrongUse() : shared_(caller()) {}
  [[nodiscard]] std::string path() const { return shared_.path().string(); }

  // Refused with 125, all of `words` in the message; the program did not run.
  void expect_refused(std::vector<std::string> flags, const std::vector<std::string>& words) {
    std::vector<std::string> arguments = {"-v", path() + ":/out:rw"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    for (const char* word : {"-l", "bash", "-c", ": > /out/ran"}) arguments.emplace_back(word);
    const Outcome outcome = run(std::move(arguments));
    EXPECT_EQ(outcome.exit_code, 125) << testing::PrintToString(flags) << outcome;
    EXPECT_EQ(outcome.out(), "");
    EXPECT_EQ(outcome.err().find("wardcase: "), 0U) << outcome;
    for (const std::string& word : words) {
      EXPECT_NE(outcome.err().find(word), std::string::npos) << word << " in " << outcome;
    }
    EXPECT_FALSE(std::filesystem::exists(shared_.path() / "ran")) << testing::PrintToString(flags);
  }

 private:
  ScratchDirectory shared_;
};
WARDCASE_AS_ROOT_AND_USER(WrongUse);

TEST_P(WrongUse, TheControlRuns) {
  EXPECT_EQ(run({"-v", path() + ":/out:rw", "-l", "bash", "-c", ": > /out/ran"}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(path() + "/ran"));
}

TEST_P(WrongUse, AnUnknownOptionIsNamed) {
  expect_refused({"--no-such-option"}, {"no-such-option"});
  expect_refused({"--timeou", "5s"}, {"timeou"});  // nothing is guessed
}

TEST_P(WrongUse, BadTimesAreNamedWithTheMaximum) {
  for (const char* value : {"0", "-1", "abc", "", "5x", "99999999999999999999"}) {
    expect_refused({"--timeout", value}, {"--timeout"});
  }
  expect_refused({"--timeout", "601s"}, {"--timeout", "600s", "limits.max.timeout"});
  expect_refused({"--grace", "31s"}, {"--grace", "30s"});
}

TEST_P(WrongUse, BadSizesAndCountsAreNamed) {
  for (const char* value : {"0", "-5m", "abc", "1q"}) expect_refused({"-m", value}, {"memory"});
  expect_refused({"--pids", "0"}, {"--pids"});
  expect_refused({"--pids", "5000"}, {"--pids", "4096"});
  expect_refused({"--cpus", "0"}, {"--cpus"});
  expect_refused({"--disk", "none-such"}, {"--disk"});
}

TEST_P(WrongUse, MountsThatWouldOpenTheHostAreRefused) {
  for (const char* mount : {"/:/host", "/proc:/host", "/sys:/host", "/dev:/host", "/run:/host"}) {
    expect_refused({"-v", mount}, {"-v"});
  }
  for (const char* target : {"/", "/proc", "/sys", "/dev", "relative", "/a/../b", "/proc/self"}) {
    expect_refused({"-v", path() + ":" + target}, {"-v"});
  }
  expect_refused({"-v", path() + ":/x:rx"}, {"-v"});
  expect_refused({"-v", path()}, {"-v"});
  expect_refused({"-v", path() + "/missing:/x"}, {"missing"});
}

TEST_P(WrongUse, MountsThatCantBePlacedSayWhyAndWhere) {
  expect_refused({"-v", path() + ":/bin"}, {"mount at '/bin'", "is a link; write '/usr/bin'"});
  expect_refused({"-v", path() + ":/bin/x"}, {"is a link; write '/usr/bin/x'"});
  expect_refused({"-v", path() + ":/var/tmp/x"}, {"is a link; write '/tmp/x'"});
  expect_refused({"-v", path() + ":/usr/no-such-place"}, {"no-such-place", "inside another mount"});
  expect_refused({"-v", path() + ":/a", "-v", path() + ":/a/b"}, {"a/b", "inside another mount"});
  expect_refused({"-v", path() + ":/etc/passwd"}, {"etc/passwd", "on a file"});
}

TEST_P(WrongUse, AnEmptyPathIsNamed) {
  const Outcome outcome = run({"-e", "PATH=", "--", "ls"});
  EXPECT_EQ(outcome.exit_code, 127) << outcome;
  EXPECT_NE(outcome.err().find("'ls' was not looked for: PATH is empty"), std::string::npos);
  EXPECT_EQ(run({"-e", "PATH=", "--", "/bin/true"}).exit_code, 0);  // the control
}

TEST_P(WrongUse, OtherBadValuesAreNamed) {
  expect_refused({"--network", "everything"}, {"--network"});
  expect_refused({"--status-fd", "77"}, {"--status-fd"});
  expect_refused({"--env-file", "/no/such/file"}, {"/no/such/file"});
  expect_refused({"-e", "=x"}, {"-e"});
}

TEST_P(WrongUse, AnUnknownLanguageIsNamed) {
  const Outcome outcome = run({"-l", "nope", "-c", "1"});
  EXPECT_EQ(outcome.exit_code, 125) << outcome;
  EXPECT_NE(outcome.err().find("nope"), std::string::npos);
}

TEST_P(WrongUse, CodeNeedsALanguage) {
  const Outcome outcome = run({"-c", "print(1)"});
  EXPECT_EQ(outcome.exit_code, 125) << outcome;
  EXPECT_NE(outcome.err().find("-l"), std::string::npos);
}

TEST_P(WrongUse, NothingToRunIsRefused) {
  EXPECT_EQ(run({}).exit_code, 125);
  EXPECT_EQ(run({"--"}).exit_code, 125);
  EXPECT_EQ(Command(caller(), {"no-such-verb"}).finish().exit_code, 125);
  EXPECT_EQ(Command(caller(), {}).finish().exit_code, 125);
}

TEST_P(WrongUse, WhatFollowsTheFileBelongsToTheProgram) {
  const ScratchDirectory files(caller());
  const std::string file = files.write("args.py", "import sys; print(sys.argv[1:])");
  EXPECT_EQ(run({file, "--timeout", "0", "-m", "--", "x y"}).out(),
            "['--timeout', '0', '-m', '--', 'x y']\n");
}

}  // namespace
}  // namespace wardcase::test
