// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "policies/limits.h"
#include "policies/policy.h"
#include "sandbox/sys/error.h"

namespace wardcase::supervisor {

// What every door settles in the same way, from the policy and from our own environment.

// WARDCASE_TIMEOUT and the like: defaults, which above their maximum are lowered later.
// `taken` hears of each that is set. Errors name the variable.
[[nodiscard]] sys::Status take_limit_variables(
    policies::Limits& limits, const std::function<void(const policies::LimitRow&)>& taken);

// "NAME=VALUE", as the policy sets them.
[[nodiscard]] std::vector<std::string> policy_environment(const policies::Policy& policy);

// The mounts of the policy, checked, but for those whose target is taken in `mounts`.
[[nodiscard]] sys::Status add_policy_mounts(const policies::Policy& policy,
                                            std::vector<policies::Mount>& mounts);

// Whether the policy lets a run have this network; the error names the policy and the place.
[[nodiscard]] sys::Status check_network(const policies::Policy& policy, policies::Network network);

}  // namespace wardcase::supervisor
