// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/doctor.h"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sandbox/host_check.h"
#include "supervisor/cli/console.h"
#include "supervisor/cli/interpreters.h"

namespace wardcase::supervisor {

namespace {

using sandbox::CheckState;
using sandbox::HostCheck;

constexpr std::size_t kNameWidth = 18;

HostCheck check_of(const FoundInterpreter& interpreter) {
  HostCheck check = {std::string(interpreter.language), CheckState::ok, "", ""};
  if (interpreter.path.empty()) {
    check.state = CheckState::warn;
    check.detail = "no interpreter on the box's PATH";
    check.fix = "install one below /usr, or name one with --interpreter PATH";
  } else {
    check.detail = interpreter.path + ", " + interpreter.version;
  }
  return check;
}

const char* state_word(CheckState state) {
  switch (state) {
    case CheckState::ok:
      return "ok    ";
    case CheckState::warn:
      return "warn  ";
    case CheckState::fail:
      return "FAIL  ";
  }
  return "FAIL  ";  // not reached: the list is closed
}

std::string lines_of(const HostCheck& check) {
  std::string name = check.name;
  name.resize(std::max(kNameWidth, name.size() + 1), ' ');
  std::string lines = state_word(check.state) + name + printable(check.detail) + "\n";
  if (!check.fix.empty()) lines += "      fix: " + check.fix + "\n";
  return lines;
}

}  // namespace

int doctor_command() {
  std::vector<HostCheck> checks = sandbox::check_host();
  for (const FoundInterpreter& interpreter : find_interpreters()) {
    checks.push_back(check_of(interpreter));
  }
  std::string text;
  for (const HostCheck& check : checks) text += lines_of(check);
  if (!write_all(STDOUT_FILENO, text)) return 125;
  const bool has_failed = std::ranges::any_of(
      checks, [](const HostCheck& check) { return check.state == CheckState::fail; });
  return has_failed ? 1 : 0;
}

}  // namespace wardcase::supervisor
