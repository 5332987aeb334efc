// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include "policies/policy.h"

namespace wardcase::policies {

// Refuses values that contradict each other, all of them in one error, each by its
// name and place. `policy` is complete: one file (and what it extends) laid over the
// built-in policy. A built-in value is never at fault where a file's can be.
[[nodiscard]] sys::Status check_policy(const Policy& policy);

}  // namespace wardcase::policies
