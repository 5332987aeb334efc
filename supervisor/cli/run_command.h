// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <span>
#include <string>

namespace wardcase::supervisor {

// `wardcase run`: returns the exit code. Wrong use is told in one line, and
// nothing runs then.
int run_command(std::span<const std::string> words);

}  // namespace wardcase::supervisor
