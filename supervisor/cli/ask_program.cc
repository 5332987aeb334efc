// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/ask_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

#include "sandbox/sys/kernel.h"
#include "sandbox/sys/retry.h"
#include "sandbox/sys/unique_fd.h"

namespace wardcase::supervisor {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{5};

// Whether there is something to read before it is too late.
bool await(int fd, Clock::time_point end) {
  pollfd readable = {fd, POLLIN, 0};
  return sys::retry_eintr([&] {
           const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
           return ::poll(&readable, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
         }) > 0;
}

std::string read_first_line(int fd, Clock::time_point end) {
  std::array<char, 256> start;
  if (!await(fd, end)) return "";
  const ssize_t got = sys::retry_eintr([&] { return ::read(fd, start.data(), start.size()); });
  const std::string text(start.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  return text.substr(0, text.find('\n'));
}

// Who is only asked must not hold us: one that does not end is killed.
bool ends_well(pid_t pid, Clock::time_point end) {
  const sys::UniqueFd pidfd(sys::pidfd_open(pid));
  if (!pidfd.is_open() || !await(pidfd.get(), end)) {
    (void)::kill(pid, SIGKILL);  // not reaped yet, so the number is still its own
  }
  int status = 0;
  return sys::retry_eintr([&] { return ::waitpid(pid, &status, 0); }) == pid && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

// As execve(2) wants it, into strings that it does not change.
std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

std::optional<Answer> ask_program(const std::vector<std::string>& argv,
                                  const std::vector<std::string>& environment) {
  std::array<int, 2> ends = {};
  if (::pipe2(ends.data(), O_CLOEXEC) < 0) return std::nullopt;
  const sys::UniqueFd from(ends[0]);
  sys::UniqueFd to(ends[1]);
  posix_spawn_file_actions_t actions;
  if (::posix_spawn_file_actions_init(&actions) != 0) return std::nullopt;
  pid_t pid = -1;
  const bool is_started =
      ::posix_spawn_file_actions_adddup2(&actions, to.get(), STDOUT_FILENO) == 0 &&
      ::posix_spawn_file_actions_adddup2(&actions, to.get(), STDERR_FILENO) == 0 &&
      ::posix_spawn(&pid, argv.front().c_str(), &actions, nullptr, pointers_to(argv).data(),
                    pointers_to(environment).data()) == 0;
  (void)::posix_spawn_file_actions_destroy(&actions);
  to.reset();
  if (!is_started) return std::nullopt;
  Answer answer;
  const auto end = Clock::now() + kPatience;
  answer.line = read_first_line(from.get(), end);
  answer.is_success = ends_well(pid, end);
  return answer;
}

}  // namespace wardcase::supervisor
