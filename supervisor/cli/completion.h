// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace wardcase::supervisor {

// The script that completes our words in "bash", "zsh" or "fish"; nullopt for another
// shell. Behind the program, its own words are completed as file names.
[[nodiscard]] std::optional<std::string> completion_script(std::string_view shell);

}  // namespace wardcase::supervisor
