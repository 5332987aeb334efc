// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <span>
#include <string>

namespace wardcase::supervisor {

// `wardcase help [VERB]`: returns the exit code.
int help_command(std::span<const std::string> words);

// `wardcase run --help`.
int print_run_help();

}  // namespace wardcase::supervisor
