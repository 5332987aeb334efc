// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <span>
#include <string>
#include <vector>

#include "supervisor/cli/options.h"

namespace wardcase::supervisor {

// `wardcase help [VERB]`, and what is made from the tables of options: returns the exit code.
[[nodiscard]] std::vector<OptionRow> help_option_table();
int help_command(std::span<const std::string> words);

// `wardcase run --help`.
int print_run_help();

}  // namespace wardcase::supervisor
