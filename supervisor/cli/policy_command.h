// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <span>
#include <string>

namespace wardcase::supervisor {

// wardcase policy list | show NAME|FILE [--resolved] [--origin] | check FILE; returns
// the exit code: 1 for a policy that can't be used.
[[nodiscard]] int policy_command(std::span<const std::string> words);

// wardcase config show [--origin] | check.
[[nodiscard]] int config_command(std::span<const std::string> words);

[[nodiscard]] int print_policy_help();
[[nodiscard]] int print_config_help();

}  // namespace wardcase::supervisor
