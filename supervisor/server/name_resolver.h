// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>
#include <vector>

#include "sandbox/sys/error.h"

namespace wardcase::supervisor {

// The addresses of a host, as the C library finds them, in its order. Waits for them.
[[nodiscard]] sys::Result<std::vector<std::string>> resolve_name(const std::string& host);

}  // namespace wardcase::supervisor
