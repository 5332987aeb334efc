// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <span>
#include <string>
#include <vector>

#include "supervisor/cli/options.h"

namespace wardcase::supervisor {

// `wardcase languages`: which languages this host can run, by what, and what the others lack.
[[nodiscard]] int languages_command(std::span<const std::string> words);
[[nodiscard]] int print_languages_help();
[[nodiscard]] std::vector<OptionRow> languages_option_table();

}  // namespace wardcase::supervisor
