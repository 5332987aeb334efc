// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/interpreters.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "policies/language.h"
#include "sandbox/sys/retry.h"
#include "sandbox/sys/unique_fd.h"
#include "supervisor/run/run_spec.h"

namespace wardcase::supervisor {

namespace {

std::string find_on_path(std::string_view name) {
  std::string_view path = kBoxPath;
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
  const ssize_t got = sys::retry_eintr([&] { return ::read(fd, start.data(), start.size()); });
  const std::string text(start.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  return text.substr(0, text.find('\n'));
}

// "" if it can't be started or says nothing.
std::string ask_version(const std::string& path) {
  std::array<int, 2> ends = {};
  if (::pipe2(ends.data(), O_CLOEXEC) < 0) return "";
  const sys::UniqueFd from(ends[0]);
  sys::UniqueFd to(ends[1]);
  posix_spawn_file_actions_t actions;
  if (::posix_spawn_file_actions_init(&actions) != 0) return "";
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
  if (!is_started) return "";
  std::string version = read_first_line(from.get());
  (void)sys::retry_eintr([&] { return ::waitpid(pid, nullptr, 0); });  // how it ended is no matter
  return version;
}

}  // namespace

std::vector<FoundInterpreter> find_interpreters() {
  std::vector<FoundInterpreter> found;
  for (const policies::Language& language : policies::languages()) {
    FoundInterpreter interpreter = {language.name, "", ""};
    for (const std::string_view name : language.interpreters) {
      if (interpreter.path.empty()) interpreter.path = find_on_path(name);
    }
    if (!interpreter.path.empty()) interpreter.version = ask_version(interpreter.path);
    found.push_back(std::move(interpreter));
  }
  return found;
}

}  // namespace wardcase::supervisor
