// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <span>
#include <string>
#include <vector>

#include "supervisor/cli/options.h"

namespace wardcase::supervisor {

// `wardcase check`: looks at the syntax of programs, one after the other, and executes nothing of
// them. Returns the exit code: 0 where all are right, else that of the first that is not.
[[nodiscard]] int check_command(std::span<const std::string> words);
[[nodiscard]] std::vector<OptionRow> check_option_table();

}  // namespace wardcase::supervisor
