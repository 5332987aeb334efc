// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string_view>

#include "sandbox/sys/error.h"
#include "supervisor/config/config.h"

namespace wardcase::supervisor {

// Has the calls of "NAME,..." let through, where the policy says that they may be. Errors
// name `asked_by` (a flag, a field of a request), the call and what to write.
[[nodiscard]] sys::Status allow_calls(std::string_view asked_by, std::string_view names,
                                      Configuration& configuration);

}  // namespace wardcase::supervisor
