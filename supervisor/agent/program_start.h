// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>

#include "supervisor/agent/agent_protocol.h"

namespace wardcase::agent {

// What to start; the pointers lead into the message that it came in.
struct ProgramStart {
  std::uint32_t id = 0;
  const char* directory = nullptr;
  char** argv = nullptr;
  char** envp = nullptr;
};

// Takes a message of kind `start` apart, in place. The next call makes the result of the one
// before invalid. False: it is none.
[[nodiscard]] bool parse_start(std::span<char> message, ProgramStart& start) noexcept;

struct StartedProgram {
  pid_t pid = -1;
  int error = 0;  // errno; pid is -1 then
};

// Starts it in a session of its own, with these descriptors as 0, 1, 2 and 3 and no other, and
// waits until it has been executed. They stay the caller's.
[[nodiscard]] StartedProgram start_program(const ProgramStart& start,
                                           std::span<const int, kStartDescriptors> fds) noexcept;

// Default answers to all signals, and none blocked. For a child before its exec.
void reset_signals() noexcept;

// Executes the first of the candidates in argv[0] that is there; returns only with an errno.
[[nodiscard]] int execute(char** argv, char** envp) noexcept;

}  // namespace wardcase::agent
