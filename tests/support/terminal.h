// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <termios.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/unique_fd.h"
#include "tests/support/wardcase_command.h"

namespace wardcase::test {

// A terminal with a person before it, who types, reads and changes the window's size.
class Terminal {
 public:
  // 24 lines of 80 columns; its device belongs to `owner`, as login(1) gives it.
  explicit Terminal(Caller owner);

  // For Command::terminal.
  [[nodiscard]] int device() const { return device_.get(); }
  void type(std::string_view text) const;
  // Reads until `wanted` is shown; false when time ran out first. What was shown up to
  // there is returned by passed(), and not looked at again.
  [[nodiscard]] bool wait_for(std::string_view wanted,
                              std::chrono::seconds limit = std::chrono::seconds(20));
  [[nodiscard]] const std::string& passed() const { return passed_; }
  // Between `wanted` and the end of its line.
  [[nodiscard]] std::string line_after(std::string_view wanted);
  void resize(unsigned short rows, unsigned short columns) const;
  // Whether keys reach the program as they are, without a meaning of their own.
  [[nodiscard]] bool is_raw() const;

 private:
  sys::UniqueFd master_;
  sys::UniqueFd device_;
  std::string shown_;
  std::string passed_;
};

// A command that a shell runs on a terminal. The shell tells how the command ended, and
// what the terminal's settings were before and after.
class TerminalSession {
 public:
  TerminalSession(Caller caller, std::vector<std::string> command, Caller owner);
  TerminalSession(Caller caller, std::vector<std::string> command)
      : TerminalSession(caller, std::move(command), caller) {}

  [[nodiscard]] Terminal& terminal() { return terminal_; }
  [[nodiscard]] pid_t pid() const { return pid_; }  // of the command
  // Reads to the end: nothing may be waited for on the terminal afterwards.
  struct End {
    int exit_code = -1;
    std::string shown;  // since the last wait, before the shell's words
    bool is_restored = false;
    std::string status;  // of Command::status_channel
  };
  [[nodiscard]] End finish();

 private:
  Terminal terminal_;
  Running shell_;
  std::string settings_before_;
  pid_t pid_ = -1;
};
std::ostream& operator<<(std::ostream& out, const TerminalSession::End& end);

}  // namespace wardcase::test
