// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/cli/options.h"

namespace wardcase::supervisor {

// `wardcase token create | list | revoke`: tokens of the service's clients, in a file. Exit code:
// 0, or 125 and nothing was changed.
[[nodiscard]] std::vector<OptionRow> token_option_table();
[[nodiscard]] std::string_view token_help_head();
[[nodiscard]] int token_command(std::span<const std::string> words);

}  // namespace wardcase::supervisor
