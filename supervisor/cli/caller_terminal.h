// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/ioctl.h>
#include <termios.h>

#include <optional>

#include "sandbox/sys/error.h"

namespace wardcase::supervisor {

// Our stdin, a terminal, while the program has one of its own: raw, so that every
// key goes to the program's, which gives it its meaning. The destructor restores it.
class CallerTerminal {
 public:
  CallerTerminal() = default;
  CallerTerminal(const CallerTerminal&) = delete;
  CallerTerminal& operator=(const CallerTerminal&) = delete;
  ~CallerTerminal() { restore(); }

  // Started in the background we stop here, as any program that wants the terminal,
  // until we are in the foreground. Call while signals still do what they do by default.
  [[nodiscard]] static sys::Status await_foreground();

  // Once more is fine, and puts right what a shell did to it while we were stopped. In
  // the background it is left alone: a read stops us there, and who continues us sends SIGCONT.
  [[nodiscard]] sys::Status make_raw();
  // As it was before make_raw(). In the background it is left alone: it is somebody else's then.
  void restore();

  // Zeros where it has none.
  [[nodiscard]] static winsize size();

 private:
  std::optional<termios> before_;
};

}  // namespace wardcase::supervisor
