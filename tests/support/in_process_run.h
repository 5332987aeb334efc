// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <functional>
#include <string>

#include "supervisor/run/host.h"
#include "supervisor/run/run_record.h"
#include "supervisor/run/run_spec.h"
#include "tests/support/workplace.h"

namespace wardcase::test {

// What became of a run of this very process: for what no command line can ask for.
struct InProcessRun {
  supervisor::RunRecord record;
  std::string output;
};
[[nodiscard]] InProcessRun run_in_process(supervisor::RunSpec spec,
                                          const supervisor::HostOverrides& overrides = {});

// Runs the check in a child that is the caller: as the library is used here, and
// not the command, ids have to change in a process of their own. Returns what it found wrong.
[[nodiscard]] std::string check_as(Caller caller, const std::function<std::string()>& check);

}  // namespace wardcase::test
