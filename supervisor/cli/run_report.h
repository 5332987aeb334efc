// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <span>
#include <string>
#include <vector>

#include "supervisor/run/run.h"
#include "supervisor/run/run_record.h"

namespace wardcase::supervisor {

// Why the run ended as it did and which flag changes that; "" for a program
// that simply exited.
[[nodiscard]] std::string explain_end(const RunRecord& record);

// The system calls that the policy refused, a line for each name, and no more than a few.
[[nodiscard]] std::vector<std::string> describe_refusals(const RunRecord& record);

// How the program was confined: effective isolation, limits and who enforces
// them, and each thing that is weaker than wished, a line each.
[[nodiscard]] std::vector<std::string> describe_isolation(const RunRecord& record);

[[nodiscard]] std::string describe_degraded(const Degraded& weaker);

// What the launch spent its time on, as lines of a table.
[[nodiscard]] std::vector<std::string> describe_timing(std::span<const TimedStep> steps);

}  // namespace wardcase::supervisor
