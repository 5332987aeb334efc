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
#include <memory>

#include "sandbox/sys/retry.h"
#include "sandbox/sys/unique_fd.h"

namespace wardcase::bench {
namespace {

constexpr int kNotStarted = 125;

constexpr std::size_t kPieceBytes = 256UL * 1024;

struct Stdio {
  int input;
  int output;
  int error;
};

// Runs on the parent's stack, with its memory: raw calls and _exit only. The raw
// calls for ids change this process alone, where glibc's would tell all threads. A
// session of its own, as boxes have: the scheduler shares a busy machine among sessions.
[[noreturn]] void become(const Command& command, const Stdio& stdio, char* const* argv) {
  (void)::setsid();  // cannot fail: a new process leads no group
  const bool redirected =
      ::dup2(stdio.input, 0) >= 0 && ::dup2(stdio.output, 1) >= 0 && ::dup2(stdio.error, 2) >= 0;
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

struct Pipe {
  sys::UniqueFd read_end;
  sys::UniqueFd write_end;
};

sys::Result<Pipe> make_pipe(int flags) {
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC | flags) < 0) {
    return tl::unexpected(sys::errno_error("make a pipe"));
  }
  return Pipe{sys::UniqueFd(ends[0]), sys::UniqueFd(ends[1])};
}

// Starts it, does `meanwhile` and waits for its end; all of that is the time.
sys::Result<Ended> run(const Command& command, const Stdio& stdio,
                       const std::function<void()>& meanwhile) {
  std::vector<char*> argv;
  for (const std::string& word : command.argv) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  Ended ended;
  rusage usage = {};
  const auto begin = std::chrono::steady_clock::now();
  const pid_t pid = start(command, stdio, argv.data());
  if (pid < 0) return tl::unexpected(sys::errno_error("start a process"));
  if (meanwhile) meanwhile();
  const pid_t waited = sys::retry_eintr([&] { return ::wait4(pid, &ended.status, 0, &usage); });
  ended.wall = std::chrono::steady_clock::now() - begin;
  if (waited < 0) return tl::unexpected(sys::errno_error("wait for a process"));
  return ended;
}

sys::Result<sys::UniqueFd> open_null() {
  sys::UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null.is_open()) return tl::unexpected(sys::errno_error("open '/dev/null'"));
  return null;
}

}  // namespace

sys::Result<Ended> run_timed(const Command& command) {
  const auto null = open_null();
  if (!null) return tl::unexpected(null.error());
  const int nowhere = null->get();
  if (!command.wants_stderr) return run(command, {nowhere, nowhere, nowhere}, nullptr);
  const auto pipe = make_pipe(O_NONBLOCK);
  if (!pipe) return tl::unexpected(pipe.error());
  auto ended = run(command, {nowhere, nowhere, pipe->write_end.get()}, nullptr);
  if (ended) ended->standard_error = read_what_is_there(pipe->read_end.get());
  return ended;
}

sys::Result<Ended> run_read(const Command& command,
                            const std::function<void(std::string_view)>& reader) {
  const auto null = open_null();
  if (!null) return tl::unexpected(null.error());
  auto pipe = make_pipe(0);
  if (!pipe) return tl::unexpected(pipe.error());
  // As a shell of that user would have made it: somebody else's could not be opened anew.
  if (command.user && ::fchown(pipe->write_end.get(), *command.user, *command.user) < 0) {
    return tl::unexpected(sys::errno_error("give the pipe away"));
  }
  const auto buffer = std::make_unique<char[]>(kPieceBytes);
  return run(command, {null->get(), pipe->write_end.get(), null->get()}, [&] {
    pipe->write_end.reset();
    ssize_t n = 0;
    do {
      n = sys::retry_eintr([&] { return ::read(pipe->read_end.get(), buffer.get(), kPieceBytes); });
      if (n > 0) reader({buffer.get(), static_cast<std::size_t>(n)});
    } while (n > 0);
  });
}

}  // namespace wardcase::bench
