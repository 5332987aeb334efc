// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>
#include <vector>

#include "tests/bench/spawn.h"

namespace wardcase::bench {

// What is started, by each launcher alike.
struct Program {
  std::string name;
  std::vector<std::string> argv;
};
// /bin/true, bash, python3 and node with one line each, as far as they are installed.
[[nodiscard]] std::vector<Program> installed_programs();

// A way to start a program: what stands before its command line, and as whom.
struct Launcher {
  std::string name;
  std::vector<std::string> prefix;
  std::optional<uid_t> user;
  bool is_wardcase = false;

  [[nodiscard]] Command command(const Program& program) const;
};

// The bare loop first, to which all are compared; then bubblewrap, if it is installed, and
// wardcase; with `user` all of them once more as that user.
[[nodiscard]] std::vector<Launcher> launchers(const std::string& wardcase,
                                              std::optional<uid_t> user);

}  // namespace wardcase::bench
