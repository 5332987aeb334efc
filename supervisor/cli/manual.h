// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <span>
#include <string>

#include "supervisor/cli/options.h"

namespace wardcase::supervisor {

// The options as a manual page has them, by their groups: mdoc(7), to be put below
// a section's heading.
[[nodiscard]] std::string to_mdoc(std::span<const OptionRow> table);

}  // namespace wardcase::supervisor
