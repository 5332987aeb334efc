// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {

// One system call of a traced run: the n-th of its number in a process. A process is named
// by whose how-manieth child it is: "s" is the command, "s0" its first child, "s00" that one's.
struct CallSite {
  std::string process;
  long call = -1;
  int nth = 0;
};

// A call that is to fail once, without having done anything (close(2) has: Linux
// frees the descriptor whatever it says).
struct Fault {
  CallSite at;
  int error = 0;
};

struct TracedOutcome {
  Outcome outcome;
  std::vector<CallSite> calls;  // in the order in which they were entered
  bool was_hit = false;         // the fault's call was made
  bool has_hung = false;        // it was killed then
  bool is_executed = false;     // the program's exec succeeded
  std::string confinement;      // what holds the program at its exec, as its /proc tells
  std::string left;             // processes that outlived the command by seconds; they were killed
};

// Runs the command under ptrace till it and all its processes are gone. The program
// itself is let go at its exec. Calls that the C library makes before main() are not counted.
// `kill_at`: the command gets a SIGKILL as it enters this call of its.
[[nodiscard]] TracedOutcome run_traced(Command command, const std::optional<Fault>& fault = {},
                                       const std::optional<CallSite>& kill_at = {});

}  // namespace wardcase::test
