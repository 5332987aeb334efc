// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/interpreters.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "supervisor/cli/doctor.h"
#include "tests/unit/sandbox/temporary_directory.h"

namespace wardcase::supervisor {
namespace {

class Interpreters : public testing::Test {
 protected:
  // What is found where python3 is this shell script.
  [[nodiscard]] FoundInterpreter with_script(std::string_view text) const {
    const std::string path = directory_.path() + "/python3";
    std::ofstream(path) << "#!/bin/sh\n" << text;
    EXPECT_EQ(::chmod(path.c_str(), 0755), 0);
    return python();
  }
  [[nodiscard]] FoundInterpreter python() const {
    const auto all = find_interpreters(policies::shipped_languages(), directory_.path());
    const auto found = std::ranges::find(all, "python", &FoundInterpreter::language);
    return found == all.end() ? FoundInterpreter() : *found;
  }

 private:
  test::TemporaryDirectory directory_;
};

TEST_F(Interpreters, TheFirstLineIsTheVersion) {
  const FoundInterpreter found = with_script("echo Python 9.9; echo more");
  EXPECT_EQ(found.version, "Python 9.9");
  EXPECT_EQ(check_of(found).state, sandbox::CheckState::ok);
}

TEST_F(Interpreters, OneThatCantTellItsVersionIsNotOk) {
  for (const char* script : {"echo Python 9.9; exit 1", "exit 0", "kill -9 $$"}) {
    const FoundInterpreter found = with_script(script);
    EXPECT_FALSE(found.path.empty()) << script;
    EXPECT_EQ(found.version, std::nullopt) << script;
    const sandbox::HostCheck check = check_of(found);
    EXPECT_EQ(check.state, sandbox::CheckState::warn) << script;
    EXPECT_NE(check.fix, "") << script;
  }
}

TEST_F(Interpreters, OneThatIsTooOldIsNotOk) {
  const FoundInterpreter found = with_script("echo Python 3.5.9");
  EXPECT_EQ(found.usability, Usability::too_old);
  EXPECT_NE(found.problem.find("3.5.9, and 3.6 is needed"), std::string::npos) << found.problem;
  EXPECT_EQ(with_script("echo Python 3.10").usability, Usability::usable);
}

TEST_F(Interpreters, OneThatIsMissingIsNotOk) {
  EXPECT_NE(python().fix.find("apt install python3"), std::string::npos);
  const sandbox::HostCheck check = check_of(python());
  EXPECT_EQ(check.state, sandbox::CheckState::warn);
  EXPECT_NE(check.detail.find("no interpreter"), std::string::npos);
}

}  // namespace
}  // namespace wardcase::supervisor
