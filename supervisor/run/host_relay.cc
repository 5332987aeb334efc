// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/host_relay.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <limits>

#include "sandbox/sys/kernel.h"
#include "sandbox/sys/retry.h"

namespace wardcase::supervisor {
namespace {

// From here to the end of copy_and_exit() runs in the relay: after fork, so only what
// signal-safety(7) lists.

// Somebody who shares the description may have made it non-blocking.
bool wait_until(int fd, short events) noexcept {
  if (errno != EAGAIN) return false;
  pollfd wanted = {fd, events, 0};
  return sys::retry_eintr([&] { return ::poll(&wanted, 1, -1); }) > 0;
}

bool write_all(int to, const char* bytes, std::size_t size) noexcept {
  while (size > 0) {
    const ssize_t n = sys::retry_eintr([&] { return ::write(to, bytes, size); });
    if (n < 0) {
      if (!wait_until(to, POLLOUT)) return false;
      continue;
    }
    bytes += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

// A pipe of the program that stayed open in here would seem to be still in use.
void close_all_but(int from, int to) noexcept {
  const auto low = static_cast<unsigned>(std::min(from, to));
  const auto high = static_cast<unsigned>(std::max(from, to));
  if (low > 0) (void)sys::close_range(0, low - 1, 0);
  if (high > low + 1) (void)sys::close_range(low + 1, high - 1, 0);
  (void)sys::close_range(high + 1, std::numeric_limits<unsigned>::max(), 0);
}

[[noreturn]] void copy_and_exit(int from, int to, pid_t supervisor) noexcept {
  // Ctrl-C reaches the whole group, but what the program wrote is still to come out.
  sigset_t all;
  (void)::sigfillset(&all);
  (void)::sigprocmask(SIG_SETMASK, &all, nullptr);
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != supervisor) ::_exit(ECANCELED);  // died before the line above
  close_all_but(from, to);

  std::array<char, 16UL * 1024> chunk;
  for (;;) {
    const ssize_t n = sys::retry_eintr([&] { return ::read(from, chunk.data(), chunk.size()); });
    if (n == 0) ::_exit(0);
    if (n < 0 && wait_until(from, POLLIN)) continue;
    if (n < 0 || !write_all(to, chunk.data(), static_cast<std::size_t>(n))) ::_exit(errno);
  }
}

sys::Result<sys::UniqueFd> fork_copier(int from, int to) {
  const pid_t supervisor = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return tl::unexpected(sys::errno_error("fork a relay"));
  if (pid == 0) copy_and_exit(from, to, supervisor);
  sys::UniqueFd pidfd(sys::pidfd_open(pid));
  if (pidfd.is_open()) return pidfd;
  const auto error = sys::errno_error("open pidfd of a relay");
  (void)::kill(pid, SIGKILL);  // not reaped yet, so the pid is still its own
  (void)sys::retry_eintr([&] { return ::waitpid(pid, nullptr, 0); });
  return tl::unexpected(error);
}

}  // namespace

sys::Result<Relayed> Relay::start(int fd, HostAccess access) {
  std::array<int, 2> ends = {};
  if (::pipe2(ends.data(), O_CLOEXEC) < 0) {
    return tl::unexpected(sys::errno_error("make the pipe of a relay"));
  }
  sys::UniqueFd read_end(ends[0]);
  sys::UniqueFd write_end(ends[1]);
  const bool is_reading = access == HostAccess::reading;
  sys::UniqueFd& ours = is_reading ? read_end : write_end;
  // Each end has a description of its own: the relay's stays blocking.
  if (::fcntl(ours.get(), F_SETFL, O_NONBLOCK) < 0) {
    return tl::unexpected(sys::errno_error("make the pipe of a relay non-blocking"));
  }
  auto pidfd = is_reading ? fork_copier(fd, write_end.get()) : fork_copier(read_end.get(), fd);
  if (!pidfd) return tl::unexpected(std::move(pidfd).error());
  return Relayed{Relay(*std::move(pidfd)),
                 HostDescriptor{std::move(ours), HostUse::own_description, false}};
}

Relay::~Relay() {
  if (!pidfd_.is_open()) return;
  (void)sys::pidfd_send_signal(pidfd_.get(), SIGKILL, 0);
  (void)reap();
}

int Relay::reap() {
  siginfo_t ended = {};
  const auto id = static_cast<id_t>(pidfd_.get());
  const int waited = sys::retry_eintr([&] { return ::waitid(P_PIDFD, id, &ended, WEXITED); });
  const int error = waited < 0 ? errno : 0;
  pidfd_.reset();
  if (error != 0) return error;
  return ended.si_code == CLD_EXITED ? ended.si_status : EPIPE;  // killed by somebody
}

}  // namespace wardcase::supervisor
