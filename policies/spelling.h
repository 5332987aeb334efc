// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace wardcase::policies {

// "; did you mean 'memory'?" where one of `known` is near to `written`, else "".
[[nodiscard]] std::string did_you_mean(std::string_view written,
                                       std::span<const std::string_view> known);

}  // namespace wardcase::policies
