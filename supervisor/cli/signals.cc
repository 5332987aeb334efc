// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/signals.h"

#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <utility>

#include "sandbox/sys/retry.h"

namespace wardcase::supervisor {

Signals::~Signals() {
  if (fd_.is_open()) loop_.forget(fd_.get());
  if (mask_before_) (void)::sigprocmask(SIG_SETMASK, &*mask_before_, nullptr);  // was valid before
}

sys::Status Signals::open(Handler handler) {
  return open_told(
      [told = std::move(handler)](const Signal& signal) { return told(signal.number); });
}

sys::Status Signals::open_told(ToldHandler handler) {
  handler_ = std::move(handler);
  sigset_t taken;
  ::sigemptyset(&taken);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH}) {
    // What our caller made us ignore (nohup, a script's background job) stays ignored.
    struct sigaction action = {};
    const bool is_ignored =
        ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
    if (!is_ignored || signal == SIGTERM) ::sigaddset(&taken, signal);
  }
  sigset_t before;
  if (::sigprocmask(SIG_BLOCK, &taken, &before) < 0) {
    return tl::unexpected(sys::errno_error("block signals"));
  }
  mask_before_ = before;
  fd_.reset(::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd_.is_open()) return tl::unexpected(sys::errno_error("take signals by a descriptor"));
  return loop_.watch(fd_.get(), EPOLLIN, [this](std::uint32_t) { on_readable(); });
}

void Signals::on_readable() {
  signalfd_siginfo info = {};
  const ssize_t got = sys::retry_eintr([&] { return ::read(fd_.get(), &info, sizeof info); });
  if (got == static_cast<ssize_t>(sizeof info)) {
    handler_({static_cast<int>(info.ssi_signo), info.ssi_code == SI_KERNEL});
  }
}

void stop_ourselves() {
  // SIGSTOP, since SIGTSTP is blocked. It acts before raise() returns, and what
  // ends it is SIGCONT, which continues a process even where it is blocked.
  (void)::raise(SIGSTOP);
}

}  // namespace wardcase::supervisor
