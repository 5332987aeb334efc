// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <array>
#include <cstdint>

#include "policies/syscall_policy.h"

namespace wardcase::test {

using Arguments = std::array<std::uint64_t, 6>;

// What a rule says to a call with these arguments, read straight from the rule:
// the measure for compiled filters.
[[nodiscard]] policies::Answer evaluate_rule(const policies::SyscallRule& rule,
                                             const Arguments& arguments);

}  // namespace wardcase::test
