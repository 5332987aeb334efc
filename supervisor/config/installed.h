// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>
#include <string_view>

#include "sandbox/sys/error.h"

namespace wardcase::supervisor {

// What was installed with us: its path, beside our own file, in the libexec of its prefix, or in
// that of the system.
[[nodiscard]] sys::Result<std::string> find_installed(std::string_view name);

// What takes shared libraries, so that the command itself starts without any.
inline constexpr std::string_view kCompanion = "wardcase-server";

}  // namespace wardcase::supervisor
