// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Programs that reach for the caller's terminal, and for all terminals of the host.
#include "tests/support/terminal.h"

#include <gtest/gtest.h>

#include "tests/support/hostile_test.h"

namespace wardcase::test {
namespace {

class HostileTerminal : public HostileTest {
 protected:
  // What a shell reads from the terminal after `command` has ended.
  [[nodiscard]] static TerminalSession::End shell_reads_after(std::vector<std::string> command) {
    std::vector<std::string> argv = {"bash", "-c", "\"$@\"; read -r -t 1 line; echo \"<$line>\"",
                                     "-"};
    argv.insert(argv.end(), command.begin(), command.end());
    return TerminalSession(caller(), argv).finish();
  }
};
WARDCASE_AS_ROOT_AND_USER(HostileTerminal);

// With the policy's answer for each way, since a terminal's own would be another one.
TEST_P(HostileTerminal, NothingIsTypedIntoTheCallersTerminal) {
  declare_attack("type into the caller's terminal (TIOCSTI, TIOCLINUX, high bits)",
                 "an own session and terminal; the filter compares 32 bits");
  const std::string program = Workplace::get().program("terminal_typist").string();
  const std::string wardcase = Workplace::get().command().string();
  for (const char* flag : {"-t", "-i"}) {
    const auto end = shell_reads_after({wardcase, "run", flag, program});
    EXPECT_EQ(end.shown.find("armed\r\n"), 0U) << end;
    EXPECT_EQ(end.shown.find(" OK"), std::string::npos) << end;
    for (const char* way : {"0 TIOCSTI EPERM", "1 TIOCSTI+ EPERM", "2 TIOCLINUX EPERM"}) {
      EXPECT_NE(end.shown.find(way), std::string::npos) << end;
    }
    EXPECT_NE(end.shown.find("<>"), std::string::npos) << end;
  }
  if (!is_root() && read_file("/proc/sys/dev/tty/legacy_tiocsti") != "1\n") {
    return no_control("this kernel lets only root type (legacy_tiocsti)");
  }
  const auto end = shell_reads_after({program});
  EXPECT_TRUE(control_works(has_text(end.shown, "0 TIOCSTI OK"))) << end;
  EXPECT_TRUE(control_works(has_text(end.shown, "<typed>"))) << end;
}

// The host has one pool for all; without the limit the box could empty it.
TEST_P(HostileTerminal, ABoxGetsOnlyAFewTerminals) {
  declare_attack("empty the host's pool of terminals", "an own devpts instance, for 64 of them");
  no_control("it would take the host's");
  const std::string code =
      "import os\n"
      "n = 0\n"
      "try:\n"
      "    while n < 1000: os.open('/dev/ptmx', os.O_RDWR | os.O_NOCTTY); n += 1\n"
      "except OSError as e: print(n, e.strerror)";
  TerminalSession session(
      caller(), {Workplace::get().command().string(), "run", "-t", "--", "python3", "-c", code});
  EXPECT_EQ(session.finish().shown, "63 No space left on device\r\n");
}

}  // namespace
}  // namespace wardcase::test
