// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/keeper_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <utility>

#include "sandbox/sys/kernel.h"
#include "sandbox/sys/retry.h"
#include "supervisor/languages/program_file.h"

namespace wardcase::supervisor {

namespace {

constexpr const char* kOurselves = "/proc/self/exe";

// Its stdout is ours to read, and stderr the service's own.
int spawn(pid_t& process, int input, int output, const std::array<char*, 5>& argv) {
  posix_spawn_file_actions_t actions;
  int error = ::posix_spawn_file_actions_init(&actions);
  if (error != 0) return error;
  error = ::posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  if (error == 0) error = ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  if (error == 0) {
    error = ::posix_spawn(&process, kOurselves, &actions, nullptr, argv.data(), environ);
  }
  (void)::posix_spawn_file_actions_destroy(&actions);
  return error;
}

}  // namespace

KeeperProcess::~KeeperProcess() {
  if (pidfd_.is_open()) loop_.forget(pidfd_.get());
  if (process_ <= 0) return;
  (void)::kill(process_, SIGKILL);  // not reaped yet, so the number is still its own
  (void)sys::retry_eintr([this] { return ::waitpid(process_, nullptr, 0); });
}

sys::Status KeeperProcess::start(const std::string& id, const std::string& socket,
                                 std::string_view request) {
  const std::string what = "start the session's keeper";
  const auto input = text_in_memory(request);
  if (!input) return tl::unexpected(input.error());
  std::array<int, 2> ends = {};
  if (::pipe2(ends.data(), O_CLOEXEC) < 0) return tl::unexpected(sys::errno_error(what));
  output_.reset(ends[0]);
  const sys::UniqueFd to(ends[1]);
  std::array<std::string, 4> words = {"wardcase-server", "session-keep", id, socket};
  const std::array<char*, 5> argv = {words[0].data(), words[1].data(), words[2].data(),
                                     words[3].data(), nullptr};
  if (const int error = spawn(process_, input->get(), to.get(), argv); error != 0) {
    process_ = -1;
    return tl::unexpected(sys::Error{error, what});
  }
  pidfd_.reset(sys::pidfd_open(process_));
  if (!pidfd_.is_open()) return tl::unexpected(sys::errno_error(what));
  return loop_.watch(pidfd_.get(), EPOLLIN, [this](std::uint32_t) { on_end(); });
}

// What it has said is short, and in the pipe by now.
void KeeperProcess::on_end() {
  loop_.forget(pidfd_.get());
  pidfd_.reset();
  int status = 0;
  (void)sys::retry_eintr([&] { return ::waitpid(process_, &status, 0); });
  process_ = -1;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return made_("");
  std::array<char, 64 << 10> said;
  const int flags = ::fcntl(output_.get(), F_GETFL);
  (void)::fcntl(output_.get(), F_SETFL, flags | O_NONBLOCK);  // a keeper may still have it open
  const ssize_t n =
      sys::retry_eintr([&] { return ::read(output_.get(), said.data(), said.size()); });
  made_(n > 0 ? std::string(said.data(), static_cast<std::size_t>(n))
              : "the session's keeper did not start");
}

}  // namespace wardcase::supervisor
