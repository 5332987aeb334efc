// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/caller_terminal.h"

#include <signal.h>
#include <unistd.h>

#include "sandbox/sys/retry.h"

namespace wardcase::supervisor {

namespace {

// Never TCSADRAIN: a terminal that nobody reads would hold us for ever.
int set_now(const termios& settings) {
  return sys::retry_eintr([&] { return ::tcsetattr(STDIN_FILENO, TCSANOW, &settings); });
}

// An error means that it is not the terminal of our session, which has no background then.
bool is_in_background() {
  const pid_t foreground = ::tcgetpgrp(STDIN_FILENO);
  return foreground >= 0 && foreground != ::getpgrp();
}

// Should we be put in the background just now: to go through with it, not to stop.
class BlockedOutputStop {
 public:
  BlockedOutputStop() {
    sigset_t output_stop;
    ::sigemptyset(&output_stop);
    ::sigaddset(&output_stop, SIGTTOU);
    (void)::sigprocmask(SIG_BLOCK, &output_stop, &before_);
  }
  BlockedOutputStop(const BlockedOutputStop&) = delete;
  BlockedOutputStop& operator=(const BlockedOutputStop&) = delete;
  ~BlockedOutputStop() { (void)::sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

sys::Status CallerTerminal::await_foreground() {
  termios settings = {};
  if (::tcgetattr(STDIN_FILENO, &settings) < 0 || set_now(settings) < 0) {
    return tl::unexpected(sys::errno_error("-t: control the terminal"));
  }
  return {};
}

sys::Status CallerTerminal::make_raw() {
  if (is_in_background()) return {};
  const BlockedOutputStop blocked;
  termios settings = {};
  if (!before_ && ::tcgetattr(STDIN_FILENO, &settings) < 0) {
    return tl::unexpected(sys::errno_error("-t: read the terminal's settings"));
  }
  if (!before_) before_ = settings;
  settings = *before_;
  ::cfmakeraw(&settings);
  if (set_now(settings) < 0) return tl::unexpected(sys::errno_error("-t: make the terminal raw"));
  return {};
}

void CallerTerminal::restore() {
  if (!before_) return;
  const BlockedOutputStop blocked;
  if (!is_in_background()) (void)set_now(*before_);  // if it is gone there is nobody to tell
  before_.reset();
}

winsize CallerTerminal::size() {
  winsize size = {};
  (void)::ioctl(STDIN_FILENO, TIOCGWINSZ, &size);  // zeros are what it says, too, if it has none
  return size;
}

}  // namespace wardcase::supervisor
