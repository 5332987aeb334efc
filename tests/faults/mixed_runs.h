// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <array>
#include <string>
#include <vector>

#include "policies/limits.h"
#include "supervisor/run/run_record.h"

namespace wardcase::test {

// One of a series of runs that end in all ways: what it asks for, and what has to come of it.
struct MixedRun {
  std::vector<std::string> arguments;  // of the program `ending`
  std::vector<std::pair<policies::LimitId, std::uint64_t>> limits;
  std::string flag;  // the same limit on a command line, or ""

  supervisor::RunStatus status = supervisor::RunStatus::exited;
  std::optional<int> exit_code;
  std::optional<int> signal;  // nullopt: any
  std::string output;
  std::uint64_t leftover = 0;
  bool is_refused = false;  // one ptrace
};

// Of ten in a row one runs out of memory and one out of time; the others go through all 256 exit
// codes and all signals that end a program, SIGKILL among them, and write bytes, are refused a
// call, or leave children.
[[nodiscard]] MixedRun mixed_run(std::size_t number);

// What is wrong with the record and the output; "" if all is right.
[[nodiscard]] std::string compare(const MixedRun& expected, const supervisor::RunRecord& record,
                                  const std::string& output);

// The command line's exit code.
[[nodiscard]] int exit_code_of(const MixedRun& run);

}  // namespace wardcase::test
