// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>

#include "sandbox/sys/error.h"

namespace wardcase::supervisor {

// wardcase-server, which does what takes shared libraries: its path, beside the command, in
// the libexec of its prefix, or in that of the system.
[[nodiscard]] sys::Result<std::string> find_companion();

}  // namespace wardcase::supervisor
