// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {

// What a test of tests/hostile tells of itself: the attack, what holds it, and whether a
// control showed what the attack does without it. It goes into the test's report, of which
// run_suites.py makes the table of `make hostile`; a test that does not tell fails there.
void declare_attack(std::string_view attack, std::string_view protection);
// For EXPECT_TRUE: whether the same attack worked where nothing held it.
[[nodiscard]] bool control_works(bool worked);
void no_control(std::string_view why);
// The attack is not held for this caller, which SECURITY.md says as well.
void declare_not_held(std::string_view why);

// Run by root and by an ordinary user.
class HostileTest : public WithCaller {
 protected:
  // A hostile program without a box around it.
  [[nodiscard]] static Outcome outside(const std::string& name,
                                       const std::vector<std::string>& arguments = {});
};

[[nodiscard]] std::vector<pid_t> children_of(pid_t parent);
// The host's pid of the init of the box that this command of ours has made.
[[nodiscard]] pid_t init_of(pid_t command);

[[nodiscard]] bool has_text(std::string_view text, std::string_view wanted);

}  // namespace wardcase::test
