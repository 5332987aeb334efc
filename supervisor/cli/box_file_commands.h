// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <span>
#include <string>
#include <vector>

#include "supervisor/cli/options.h"

namespace wardcase::supervisor {

// Files of a session's /box. Each takes what follows its verb and returns the exit code.

// `wardcase cp FILE ID:PATH` or `wardcase cp ID:PATH FILE`; - is stdin and stdout.
[[nodiscard]] int cp_command(std::span<const std::string> words);
// `wardcase ls ID[:PATH]`.
[[nodiscard]] int ls_command(std::span<const std::string> words);
[[nodiscard]] std::vector<OptionRow> ls_option_table();
// `wardcase cat ID:PATH`.
[[nodiscard]] int cat_command(std::span<const std::string> words);

}  // namespace wardcase::supervisor
