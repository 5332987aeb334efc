// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <span>
#include <string>
#include <vector>

#include "supervisor/cli/options.h"

namespace wardcase::supervisor {

[[nodiscard]] std::vector<OptionRow> exec_option_table();

// `wardcase exec ID ...`: runs a program in a session, and exits as run does. `words`: what
// follows the verb.
[[nodiscard]] int exec_command(std::span<const std::string> words);

}  // namespace wardcase::supervisor
