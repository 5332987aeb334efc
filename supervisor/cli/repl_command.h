// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/cli/options.h"

namespace wardcase::supervisor {

[[nodiscard]] std::vector<OptionRow> repl_option_table();

// `wardcase repl ID`: each piece of code that is typed runs in the session, and the value of its
// last expression is shown. Returns the exit code.
[[nodiscard]] int repl_command(std::span<const std::string> words);

// Whether `code`, lines of `language` that were typed, ask for one more: an open bracket, a
// backslash or, in Python, a block, which an empty line ends.
[[nodiscard]] bool wants_more(std::string_view language, std::string_view code);

}  // namespace wardcase::supervisor
