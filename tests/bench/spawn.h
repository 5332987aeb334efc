// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/error.h"

namespace wardcase::bench {

struct Command {
  std::vector<std::string> argv;  // argv[0] is an absolute path
  std::optional<uid_t> user;      // becomes this user and group first; needs root
  bool wants_stderr = false;      // else it goes to /dev/null, as stdout always does
};

struct Ended {
  std::chrono::nanoseconds wall{0};
  int status = 0;  // as wait4(2) gives it
  std::string standard_error;
};

// vfork, exec and wait4, timed as a whole: the least that starting a process takes.
// Keeps at most what fits into a pipe of what the command writes to stderr.
[[nodiscard]] sys::Result<Ended> run_timed(const Command& command);

// The same with a pipe as stdout, read in large pieces until its end, each handed to `reader`.
[[nodiscard]] sys::Result<Ended> run_read(const Command& command,
                                          const std::function<void(std::string_view)>& reader);

}  // namespace wardcase::bench
