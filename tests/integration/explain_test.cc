// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// `wardcase explain`: what is told of runs that are over.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

class Explain : public WithCaller {
 protected:
  Explain() : state_(caller()) {}

  [[nodiscard]] Outcome command(std::vector<std::string> arguments) const {
    return Command(caller(), std::move(arguments))
        .environment("XDG_STATE_HOME=" + state_.path().string())
        .finish();
  }
  [[nodiscard]] Outcome explain(std::vector<std::string> arguments = {}) const {
    arguments.insert(arguments.begin(), "explain");
    return command(std::move(arguments));
  }
  [[nodiscard]] const std::filesystem::path& state() const { return state_.path(); }

 private:
  ScratchDirectory state_;
};
WARDCASE_AS_ROOT_AND_USER(Explain);

constexpr std::string_view kRefused =
    "import ctypes, sys; sys.exit(ctypes.CDLL(None).ptrace(0) == -1)";

TEST_P(Explain, TellsTheEndTheRefusalsAndTheNextStep) {
  EXPECT_EQ(command({"run", "-l", "python", "-c", std::string(kRefused)}).exit_code, 1);
  const Outcome told = explain();
  EXPECT_EQ(told.exit_code, 0) << told;
  for (const char* part :
       {": exited with 1\n", "refused: ptrace (PTRACE_TRACEME): reads or changes another process",
        "hint: the policy refused ptrace; allow it with --allow-syscalls ptrace\n",
        "limits: timeout 60s (watcher)", "isolation: network_namespace"}) {
    EXPECT_NE(told.out().find(part), std::string::npos) << part << " in " << told;
  }
}

TEST_P(Explain, TellsARunByItsIdAndTheLastWithoutOne) {
  const std::string first = command({"run", "--json", "--", "/bin/true"}).record().text("id");
  (void)command({"run", "--timeout", "100ms", "--", "/bin/sleep", "5"});
  const Outcome last = explain();
  EXPECT_NE(last.out().find(": timeout, exit code 124\n"), std::string::npos) << last;
  EXPECT_NE(last.out().find("hint: raise it with --timeout, at most 600s\n"), std::string::npos)
      << last;
  EXPECT_EQ(explain({first}).out().find(first + ": exited with 0\n"), 0U);
}

TEST_P(Explain, GivesTheRecordWithoutWhatTheProgramSaid) {
  (void)command(
      {"run", "-e", "TOKEN=hidden-word", "--", "/bin/sh", "-c", "echo $TOKEN", "hidden-word"});
  const Outcome told = explain({"--json"});
  const Record record = told.record();
  EXPECT_EQ(record.status(), "exited") << told;
  EXPECT_EQ(record.number("stdout_bytes"), 12);
  EXPECT_EQ(record.out(), "");
  for (const auto& file : std::filesystem::directory_iterator(state() / "wardcase/runs")) {
    EXPECT_EQ(read_file(file.path()).find("hidden-word"), std::string::npos);
  }
}

TEST_P(Explain, SaysWhereItKnowsNothing) {
  EXPECT_EQ(explain().exit_code, 1);
  (void)command({"run", "--", "/bin/true"});
  const Outcome unknown = explain({"run_nobody"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_NE(unknown.err().find("'run_nobody': no run of this name is remembered"),
            std::string::npos)
      << unknown;
  EXPECT_EQ(explain({"a", "b"}).exit_code, 125);
}

// As root with the environment of a user, whose home that user must be able to use.
TEST_P(Explain, NothingIsMadeInTheHomeOfSomebodyElse) {
  const ScratchDirectory home(Caller::user);
  const Outcome outcome =
      Command::other(caller(), {"/usr/bin/env", "HOME=" + home.path().string(),
                                Workplace::get().command().string(), "run", "--", "echo", "ran"})
          .finish();
  EXPECT_EQ(outcome.out(), "ran\n");
  EXPECT_EQ(std::filesystem::exists(home.path() / ".local"), !is_root());
}

TEST_P(Explain, ARunIsNoneTheWorseWhereNothingCanBeRemembered) {
  std::filesystem::create_directory_symlink("/tmp", state() / "wardcase");
  const Outcome outcome = command({"run", "--", "/bin/echo", "hi"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out() + outcome.err(), "hi\n");
  const Outcome verbose = command({"run", "--verbose", "--", "/bin/true"});
  EXPECT_NE(verbose.err().find("not remembered for explain: "), std::string::npos) << verbose;
  EXPECT_FALSE(std::filesystem::exists("/tmp/runs"));
}

}  // namespace
}  // namespace wardcase::test
