// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <span>
#include <string>
#include <vector>

#include "supervisor/cli/options.h"

namespace wardcase::supervisor {

// Each takes what follows its verb and returns the exit code.

// `wardcase session new|ls|rm|extend|reset|interrupt|input`.
[[nodiscard]] int session_command(std::span<const std::string> words);
// The options of all its words.
[[nodiscard]] std::vector<OptionRow> session_command_table();

// `wardcase logs ID`.
[[nodiscard]] int logs_command(std::span<const std::string> words);
[[nodiscard]] std::vector<OptionRow> logs_option_table();

// `wardcase kill ID`: ends the program that runs there, at once.
[[nodiscard]] int kill_command(std::span<const std::string> words);

}  // namespace wardcase::supervisor
