// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace wardcase::supervisor {

struct Answer {
  std::string line;  // the first that it wrote, to stdout or stderr; 256 bytes at most
  bool is_success = false;
};

// Asks a program of the host one thing. argv[0] is its path; it gets `environment` and
// nothing else of ours, and is killed after five seconds. nullopt: it could not be started.
[[nodiscard]] std::optional<Answer> ask_program(const std::vector<std::string>& argv,
                                                const std::vector<std::string>& environment);

}  // namespace wardcase::supervisor
