// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/error.h"

namespace wardcase::supervisor {

// One variable for the program: `NAME=VALUE` as it is, or `NAME`, which
// copies the caller's value. Errors never show a value, which may be a secret.
[[nodiscard]] sys::Result<std::string> parse_variable(std::string_view text);

// Such lines; blank ones and those that begin with # are skipped. The error names the line.
[[nodiscard]] sys::Result<std::vector<std::string>> parse_variables(std::string_view text);

// A file of them.
[[nodiscard]] sys::Result<std::vector<std::string>> read_variables(const std::string& path);

}  // namespace wardcase::supervisor
