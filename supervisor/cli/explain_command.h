// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <span>
#include <string>
#include <vector>

#include "supervisor/cli/console.h"
#include "supervisor/cli/options.h"
#include "supervisor/run/run_record.h"

namespace wardcase::supervisor {

// `wardcase explain [--json] [ID]`: tells what became of a past run, and why. Returns the
// exit code: 1 if nothing is known of it.
int explain_command(std::span<const std::string> words);
int print_explain_help();
[[nodiscard]] std::vector<OptionRow> explain_option_table();

// Keeps what explain_command() will tell. A run is none the worse where that can't be
// done; why is told by --verbose.
void remember_run(const RunRecord& record, const Console& console);

}  // namespace wardcase::supervisor
