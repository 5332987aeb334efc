// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <span>
#include <string>
#include <vector>

#include "supervisor/cli/options.h"

namespace wardcase::supervisor {

// wardcase policy list | show NAME|FILE [--resolved] [--origin] | check FILE; returns
// the exit code: 1 for a policy that can't be used.
[[nodiscard]] int policy_command(std::span<const std::string> words);

// wardcase config show [--origin] | check.
[[nodiscard]] int config_command(std::span<const std::string> words);

// Those of their show.
[[nodiscard]] std::vector<OptionRow> policy_option_table();
[[nodiscard]] std::vector<OptionRow> config_option_table();

[[nodiscard]] int print_policy_help();
[[nodiscard]] int print_config_help();

}  // namespace wardcase::supervisor
