// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <span>
#include <string_view>

namespace wardcase::policies {

// policies/NAME.toml, compiled in (packaging/embed-policies). "groups" holds the
// groups of system calls, every other one is a policy.
struct ShippedText {
  std::string_view name;
  std::string_view text;
};
[[nodiscard]] std::span<const ShippedText> shipped_texts();
inline constexpr std::string_view kGroupsName = "groups";

}  // namespace wardcase::policies
