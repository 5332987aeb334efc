// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <span>
#include <string>
#include <vector>

#include "supervisor/cli/options.h"

namespace wardcase::supervisor {

// The options of serve, which the companion reads (supervisor/server/serve_options.h).
[[nodiscard]] std::vector<OptionRow> serve_option_table();

// `wardcase serve ...`: becomes `wardcase-server serve ...`. Returns only where it can't.
[[nodiscard]] int serve_command(std::span<const std::string> words);

}  // namespace wardcase::supervisor
