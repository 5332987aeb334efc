// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/agent/proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "sandbox/sys/retry.h"
#include "supervisor/agent/datagram.h"
#include "supervisor/agent/program_start.h"

// The box has no network but its own loopback. What a client of this port wants is read and
// judged outside of the box, by whoever holds the other end of the socket; here it is only
// handed over.
namespace wardcase::agent {

namespace {

constexpr int kNoProxy = 125;
constexpr int kWaiting = 64;  // connections that the kernel holds for us

[[nodiscard]] int complain(const char* doing) noexcept {
  const char* const why = ::strerrordesc_np(errno);
  (void)::dprintf(STDERR_FILENO, "wardcase-agent: %s: %s\n", doing, why == nullptr ? "?" : why);
  return kNoProxy;
}

// Both cases are in use: curl and pip look at the small one first, npm at its own.
bool name_proxy(std::uint16_t port) noexcept {
  char url[64];
  (void)std::snprintf(url, sizeof url, "http://127.0.0.1:%u", port);
  for (const char* name : {"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy",
                           "npm_config_proxy", "npm_config_https_proxy"}) {
    if (::setenv(name, url, 1) < 0) return false;
  }
  return ::unsetenv("NO_PROXY") == 0 && ::unsetenv("no_proxy") == 0;
}

// The listening socket, whose port the environment names, or -1.
int listen_on_loopback() noexcept {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener < 0) return -1;
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener, generic, size) < 0 || ::listen(listener, kWaiting) < 0 ||
      ::getsockname(listener, generic, &size) < 0 || !name_proxy(ntohs(address.sin_port))) {
    return -1;
  }
  return listener;
}

// The command stays in our process group: a signal that ends the run means it.
pid_t start_command(char** command) noexcept {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  reset_signals();
  (void)::close(kControl);  // all else that is open is close-on-exec
  const int error = execute(command, environ);
  errno = error;
  (void)complain(command[0]);
  ::_exit(error == ENOENT || error == ENOTDIR ? 127 : 126);
}

// True: no more will come of it.
bool hand_over_next(int listener) noexcept {
  const int connection = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (connection < 0) return false;
  const bool is_gone = !send_descriptor(connection);
  (void)::close(connection);
  return is_gone;
}

// True: `status` is the command's.
bool has_ended(pid_t command, int& status) noexcept {
  for (;;) {
    int how = 0;
    const pid_t pid = sys::retry_eintr([&]() noexcept { return ::waitpid(-1, &how, WNOHANG); });
    if (pid <= 0) return false;
    if (pid != command) continue;
    status = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
    return true;
  }
}

int take_signals() noexcept {
  sigset_t taken;
  (void)::sigemptyset(&taken);
  for (const int signo : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
    (void)::sigaddset(&taken, signo);
  }
  if (::sigprocmask(SIG_BLOCK, &taken, nullptr) < 0) return -1;
  return ::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
}

}  // namespace

int run_with_proxy(char** command) noexcept {
  const int listener = listen_on_loopback();
  if (listener < 0) return complain("listen on 127.0.0.1");
  const int signals = take_signals();
  if (signals < 0) return complain("take signals");
  const pid_t pid = start_command(command);
  if (pid < 0) return complain("start the command");
  for (int status = 0;;) {
    std::array<pollfd, 3> ready = {
        {{signals, POLLIN, 0}, {listener, POLLIN, 0}, {kControl, POLLIN, 0}}};
    if (::poll(ready.data(), ready.size(), -1) < 0) continue;  // interrupted
    if (ready[0].revents != 0) {
      signalfd_siginfo signal = {};
      (void)!::read(signals, &signal, sizeof signal);  // the command hears of the others itself
      if (has_ended(pid, status)) return status;
    }
    if (ready[2].revents != 0) return kNoProxy;  // nothing is ever said to us: it closed
    if (ready[1].revents != 0 && hand_over_next(listener)) return kNoProxy;
  }
}

}  // namespace wardcase::agent
