// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include "sandbox/sys/error.h"

namespace wardcase::supervisor {

// Has the caller's own service manager put this process into a scope of its own, whose
// control group is delegated: an ordinary user's boxes are then held by control groups as
// root's are. Takes some milliseconds, five seconds at most. Errors say what is missing.
[[nodiscard]] sys::Status enter_user_scope();

}  // namespace wardcase::supervisor
