// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/interpreters.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "policies/language.h"
#include "sandbox/sys/kernel.h"
#include "sandbox/sys/retry.h"
#include "sandbox/sys/unique_fd.h"

namespace wardcase::supervisor {

namespace {

constexpr int kPatienceMs = 5000;

std::string find_on_path(std::string_view name, std::string_view path) {
  while (!path.empty()) {
    const std::string_view directory = path.substr(0, path.find(':'));
    path.remove_prefix(std::min(path.size(), directory.size() + 1));
    std::string candidate = std::string(directory) + "/" + std::string(name);
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

std::string read_first_line(int fd) {
  std::array<char, 256> start;
  pollfd readable = {fd, POLLIN, 0};
  if (sys::retry_eintr([&] { return ::poll(&readable, 1, kPatienceMs); }) <= 0) return "";
  const ssize_t got = sys::retry_eintr([&] { return ::read(fd, start.data(), start.size()); });
  const std::string text(start.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  return text.substr(0, text.find('\n'));
}

// What is asked only for its version must not hold us: one that does not end is killed.
bool ends_well(pid_t pid) {
  const sys::UniqueFd pidfd(sys::pidfd_open(pid));
  pollfd ended = {pidfd.get(), POLLIN, 0};
  if (!pidfd.is_open() || sys::retry_eintr([&] { return ::poll(&ended, 1, kPatienceMs); }) <= 0) {
    (void)::kill(pid, SIGKILL);  // not reaped yet, so the number is still its own
  }
  int status = 0;
  return sys::retry_eintr([&] { return ::waitpid(pid, &status, 0); }) == pid && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

std::optional<std::string> ask_version(const std::string& path) {
  std::array<int, 2> ends = {};
  if (::pipe2(ends.data(), O_CLOEXEC) < 0) return std::nullopt;
  const sys::UniqueFd from(ends[0]);
  sys::UniqueFd to(ends[1]);
  posix_spawn_file_actions_t actions;
  if (::posix_spawn_file_actions_init(&actions) != 0) return std::nullopt;
  std::string name = path;
  std::string option = "--version";
  std::array<char*, 3> argv = {name.data(), option.data(), nullptr};
  std::array<char*, 1> environment = {nullptr};
  pid_t pid = -1;
  const bool is_started =
      ::posix_spawn_file_actions_adddup2(&actions, to.get(), STDOUT_FILENO) == 0 &&
      ::posix_spawn_file_actions_adddup2(&actions, to.get(), STDERR_FILENO) == 0 &&
      ::posix_spawn(&pid, path.c_str(), &actions, nullptr, argv.data(), environment.data()) == 0;
  (void)::posix_spawn_file_actions_destroy(&actions);
  to.reset();
  if (!is_started) return std::nullopt;
  std::string version = read_first_line(from.get());
  if (!ends_well(pid) || version.empty()) return std::nullopt;
  return version;
}

}  // namespace

std::vector<FoundInterpreter> find_interpreters(std::string_view path) {
  std::vector<FoundInterpreter> found;
  for (const policies::Language& language : policies::languages()) {
    FoundInterpreter interpreter = {language.name, "", std::nullopt};
    for (const std::string_view name : language.interpreters) {
      if (interpreter.path.empty()) interpreter.path = find_on_path(name, path);
    }
    if (!interpreter.path.empty()) interpreter.version = ask_version(interpreter.path);
    found.push_back(std::move(interpreter));
  }
  return found;
}

}  // namespace wardcase::supervisor
