// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/companion.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/sys/retry.h"
#include "supervisor/config/installed.h"

namespace wardcase::supervisor {

sys::Result<CompanionCall> CompanionCall::make(std::string_view verb,
                                               std::span<const std::string> words) {
  const auto path = find_installed(kCompanion);
  if (!path) return tl::unexpected(path.error());
  CompanionCall call;
  call.words_ = {*path, std::string(verb)};
  call.words_.insert(call.words_.end(), words.begin(), words.end());
  return call;
}

std::vector<char*> CompanionCall::argv() {
  std::vector<char*> argv;
  argv.reserve(words_.size() + 1);
  for (std::string& word : words_) argv.push_back(word.data());
  argv.push_back(nullptr);
  return argv;
}

sys::Error CompanionCall::become() {
  (void)::execv(words_.front().c_str(), argv().data());
  return sys::errno_error(what());
}

sys::Result<bool> CompanionCall::run_quietly() {
  posix_spawn_file_actions_t actions;
  if (const int error = ::posix_spawn_file_actions_init(&actions); error != 0) {
    return tl::unexpected(sys::Error{error, what()});
  }
  pid_t child = -1;
  int error = ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  if (error == 0) {
    error =
        ::posix_spawn(&child, words_.front().c_str(), &actions, nullptr, argv().data(), environ);
  }
  (void)::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return tl::unexpected(sys::Error{error, what()});
  int status = 0;
  if (sys::retry_eintr([&] { return ::waitpid(child, &status, 0); }) < 0) {
    return tl::unexpected(sys::errno_error("wait for '" + words_.front() + "'"));
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace wardcase::supervisor
