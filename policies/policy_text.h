// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>

#include "policies/policy.h"

namespace wardcase::policies {

enum class Origins : std::uint8_t { left_out, shown };

// The policy in TOML, as read_policy reads it; with origins each line ends in a
// comment that says where its value was set.
[[nodiscard]] std::string to_toml(const Policy& policy, Origins origins);

}  // namespace wardcase::policies
