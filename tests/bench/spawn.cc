// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "tests/bench/spawn.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "sandbox/sys/retry.h"
#include "sandbox/sys/unique_fd.h"

namespace wardcase::bench {
namespace {

constexpr int kNotStarted = 125;

struct Stdio {
  int in_out;
  int error;
};

// Runs on the parent's stack, with its memory: raw calls and _exit only. The raw
// calls for ids change this process alone, where glibc's would tell all threads. A
// session of its own, as boxes have: the scheduler shares a busy machine among sessions.
[[noreturn]] void become(const Command& command, const Stdio& stdio, char* const* argv) {
  (void)::setsid();  // cannot fail: a new process leads no group
  const bool redirected =
      ::dup2(stdio.in_out, 0) >= 0 && ::dup2(stdio.in_out, 1) >= 0 && ::dup2(stdio.error, 2) >= 0;
  bool is_user = true;
  if (command.user) {
    const auto id = static_cast<long>(*command.user);
    is_user = ::syscall(SYS_setgroups, 0, nullptr) == 0 &&
              ::syscall(SYS_setresgid, id, id, id) == 0 &&
              ::syscall(SYS_setresuid, id, id, id) == 0;
  }
  if (redirected && is_user) ::execve(argv[0], argv, environ);
  ::_exit(kNotStarted);
}

pid_t start(const Command& command, const Stdio& stdio, char* const* argv) {
  const pid_t pid = ::vfork();
  if (pid == 0) become(command, stdio, argv);
  return pid;
}

std::string read_what_is_there(int fd) {
  std::string text;
  std::array<char, 4096> chunk;
  for (;;) {
    const auto n = sys::retry_eintr([&] { return ::read(fd, chunk.data(), chunk.size()); });
    if (n <= 0) return text;
    text.append(chunk.data(), static_cast<std::size_t>(n));
  }
}

}  // namespace

sys::Result<Ended> run_timed(const Command& command) {
  std::vector<char*> argv;
  for (const std::string& word : command.argv) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const sys::UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null.is_open()) return tl::unexpected(sys::errno_error("open '/dev/null'"));
  sys::UniqueFd read_end;
  sys::UniqueFd write_end;
  if (command.wants_stderr) {
    std::array<int, 2> ends;
    if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) < 0) {
      return tl::unexpected(sys::errno_error("make a pipe"));
    }
    read_end.reset(ends[0]);
    write_end.reset(ends[1]);
  }
  const Stdio stdio = {null.get(), command.wants_stderr ? write_end.get() : null.get()};

  Ended ended;
  rusage usage = {};
  const auto begin = std::chrono::steady_clock::now();
  const pid_t pid = start(command, stdio, argv.data());
  if (pid < 0) return tl::unexpected(sys::errno_error("start a process"));
  const pid_t waited = sys::retry_eintr([&] { return ::wait4(pid, &ended.status, 0, &usage); });
  ended.wall = std::chrono::steady_clock::now() - begin;
  if (waited < 0) return tl::unexpected(sys::errno_error("wait for a process"));

  if (command.wants_stderr) ended.standard_error = read_what_is_there(read_end.get());
  return ended;
}

}  // namespace wardcase::bench
