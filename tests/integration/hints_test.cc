// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// What a program that failed is told to try, through the command; and no word where it
// would be false.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

class HintsOfRuns : public WithCaller {
 protected:
  HintsOfRuns() : files_(caller()) {}

  // `wardcase run WORDS`, begun in the directory of the files.
  [[nodiscard]] Outcome run_here(const std::string& words, const std::string& variable = "A=b") {
    const std::string command = Workplace::get().command().string();
    return Command::other(
               caller(), {"/bin/sh", "-c",
                          "cd " + files_.path().string() + " && exec " + command + " run " + words})
        .environment(variable)
        .finish();
  }
  void write(const std::string& name, std::string_view text, mode_t mode = 0644) {
    std::filesystem::create_directories((files_.path() / name).parent_path());
    (void)files_.write(name, text, mode);
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return (files_.path() / name).string();
  }
  static void expect_hint(const Outcome& outcome, const std::string& hint) {
    EXPECT_NE(outcome.exit_code, 0) << outcome;
    const std::string line = "wardcase: hint: " + hint + "\n";
    EXPECT_TRUE(outcome.err().ends_with(line)) << outcome;
  }
  static void expect_none(const Outcome& outcome) {
    EXPECT_EQ(outcome.err().find("hint"), std::string::npos) << outcome;
  }

 private:
  ScratchDirectory files_;
};
WARDCASE_AS_ROOT_AND_USER(HintsOfRuns);

TEST_P(HintsOfRuns, AFileBesideTheProgramIsNamedWithTheFlag) {
  write("data.csv", "1,2\n");
  write("read.py", "print(open('data.csv').read())");
  const Outcome missed = run_here("read.py");
  expect_hint(missed, "data.csv is outside the box; add --workspace .");
  EXPECT_EQ(missed.exit_code, 1);  // the program's own
  expect_hint(run_here("-- cat data.csv"), "data.csv is outside the box; add --workspace .");
  // What the hint says helps.
  const Outcome helped = run_here("--workspace . read.py");
  EXPECT_EQ(helped.exit_code, 0) << helped;
  expect_none(helped);
}

TEST_P(HintsOfRuns, AModuleBesideTheProgramIsFoundFromElsewhere) {
  write("sub/own.py", "");
  write("sub/main.py", "import own");
  expect_hint(run_here("sub/main.py"), "own.py is outside the box; add --workspace sub");
  EXPECT_EQ(run_here("--workspace sub sub/main.py").exit_code, 0);
}

TEST_P(HintsOfRuns, TheRecordHasItAndStderrThenDoesNot) {
  write("data.csv", "");
  const Outcome outcome = run_here("--json -- cat data.csv");
  EXPECT_EQ(outcome.record().text("hint"), "data.csv is outside the box; add --workspace .");
  expect_none(outcome);
  EXPECT_EQ(outcome.record().status(), "exited");
}

TEST_P(HintsOfRuns, QuietSaysNothing) {
  write("data.csv", "");
  expect_none(run_here("-q -- cat data.csv"));
}

TEST_P(HintsOfRuns, NothingIsSaidOfWhatSucceededOrIsNowhere) {
  write("data.csv", "");
  expect_none(run_here("-l bash -c 'cat data.csv; exit 0'"));
  expect_none(run_here("-- cat other.csv"));
  expect_none(run_here("-l bash -c 'echo Network is unreachable >&2'"));
  expect_none(run_here("-l bash -c 'echo Network is unreachable; exit 1'"));  // not an error
}

TEST_P(HintsOfRuns, AMissingNetworkIsNamedWithTheFlag) {
  write("get.py", "import socket\nsocket.create_connection(('192.0.2.1', 80), 1)");
  expect_hint(run_here("get.py"), "the box has no network; add --network host");
  write("p.toml", "schema = 1\n[network]\nallowed = [\"none\"]\n");
  expect_none(run_here("--policy ./p.toml get.py"));
  expect_none(run_here("--network host -l bash -c 'echo Network is unreachable >&2; exit 1'"));
}

TEST_P(HintsOfRuns, AnActiveVirtualEnvironmentIsNamedWithTheFlag) {
  write("v/pyvenv.cfg", "home = /usr/bin\n");
  std::filesystem::create_directories(path("v/bin"));
  std::filesystem::create_directories(path("v/lib"));
  std::filesystem::create_symlink("/usr/bin/python3", path("v/bin/python"));
  write("m.py", "import only_in_the_environment");
  expect_hint(
      run_here("m.py", "VIRTUAL_ENV=" + path("v")),
      "your virtual environment is outside the box; add --interpreter " + path("v/bin/python"));
  const std::string other =
      "'only_in_the_environment' is not installed; add --requirement only_in_the_environment";
  expect_hint(run_here("m.py"), other);
  expect_hint(run_here("--interpreter v/bin/python m.py", "VIRTUAL_ENV=" + path("v")), other);
}

TEST_P(HintsOfRuns, StdinThatWasNotPassedIsNamedWithTheFlag) {
  const Outcome outcome = run_command({"-l", "python", "-c", "input()"}).input("x\n").finish();
  expect_hint(outcome, "stdin was not passed; add -i");
  expect_none(run_command({"-l", "python", "-c", "1"}).input("x\n").finish());
}

TEST_P(HintsOfRuns, TheProgramsControlCharactersAreNotEchoed) {
  write("a\x1b[2Jb", "");
  const Outcome outcome =
      run_here("-l bash -c 'printf \"cat: a\\033[2Jb: No such file or directory\\n\" >&2; exit 3'");
  EXPECT_EQ(outcome.exit_code, 3) << outcome;
  expect_none(outcome);
}

}  // namespace
}  // namespace wardcase::test
