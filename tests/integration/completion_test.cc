// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// What the scripts for shells offer, by the bash that is here.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

class Completion : public testing::Test {
 protected:
  // What is offered at the last of `words`, split as bash does it, one a line.
  [[nodiscard]] static std::string offered(const std::string& words,
                                           const std::string& before = "") {
    const std::string script =
        before + "PATH=" + Workplace::get().command().parent_path().string() +
        ":$PATH; eval \"$(wardcase help --completion=bash)\"; COMP_WORDS=(" + words +
        "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _wardcase; printf '%s\\n' \"${COMPREPLY[@]}\"";
    const Outcome outcome = Command::other(Caller::user, {"/bin/bash", "-c", script}).finish();
    EXPECT_EQ(outcome.err(), "") << words;
    return outcome.out();
  }
};

TEST_F(Completion, OffersVerbsAndOptions) {
  EXPECT_EQ(offered("wardcase ru"), "run\n");
  EXPECT_EQ(offered("wardcase run --time"), "--timeout\n");
  EXPECT_EQ(offered("wardcase run --json -m 64m --merge"), "--merge-stderr\n");
  EXPECT_EQ(offered("wardcase policy sh"), "show\n");
}

TEST_F(Completion, OffersTheValuesOfAnOption) {
  EXPECT_EQ(offered("wardcase run -l py"), "python\n");
  EXPECT_EQ(offered("wardcase run --language = ba"), "bash\n");
  EXPECT_EQ(offered("wardcase run --network ''"), "none\nhost\n");
  EXPECT_EQ(offered("wardcase run --dry-run = j"), "json\n");
  EXPECT_EQ(offered("wardcase run -v a : b --policy str"), "strict\n");
  EXPECT_EQ(offered("wardcase policy show strict --res"), "--resolved\n");
}

TEST_F(Completion, LeavesTheProgramsWordsToTheShell) {
  EXPECT_EQ(offered("wardcase run a.py --ti"), "\n");
  EXPECT_EQ(offered("wardcase run --timeout 5 a.py -"), "\n");
  EXPECT_EQ(offered("wardcase run -- ls --al"), "\n");
  EXPECT_NE(offered("wardcase run -- mkdi").find("mkdir\n"), std::string::npos);
  // The control: the same words before the program.
  EXPECT_EQ(offered("wardcase run --ti"), "--timeout\n--timing\n");
}

// The name of a file in a policy directory is a text, and no code.
TEST_F(Completion, ExecutesNothingThatItOffers) {
  const ScratchDirectory files(Caller::user);
  std::filesystem::create_directories(files.path() / "wardcase/policies");
  const std::string name = "wardcase/policies/p$(touch${IFS}ran).toml";
  (void)files.write(name, "schema = 1\n");
  const std::string directory = files.path().string();
  const std::string found =
      offered("wardcase run --policy p",
              "cd " + directory + "; export XDG_CONFIG_HOME=" + directory + "; ");
  EXPECT_NE(found.find("$(touch"), std::string::npos) << found;  // it was there to be executed
  EXPECT_FALSE(std::filesystem::exists(files.path() / "ran")) << found;
}

TEST_F(Completion, AnotherShellIsRefusedByName) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Outcome outcome =
        Command(Caller::user, {"help", std::string("--completion=") + shell}).finish();
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_NE(outcome.out().find("timeout"), std::string::npos) << shell;
  }
  const Outcome outcome = Command(Caller::user, {"help", "--completion=tcsh"}).finish();
  EXPECT_EQ(outcome.exit_code, 125);
  EXPECT_NE(outcome.err().find("write bash, zsh or fish"), std::string::npos) << outcome;
}

[[maybe_unused]] const bool kLeavesNothing = install_leak_check();

}  // namespace
}  // namespace wardcase::test
