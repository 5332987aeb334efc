// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string_view>

namespace wardcase::policies {

// The version in what a program says of itself: the first number with a dot in it, else the first
// number; "" where there is none. "gcc (Debian 12.2.0-14) 12.2.0" -> "12.2.0".
[[nodiscard]] std::string_view find_version(std::string_view text);

// By its numbers, from the left; what is left out is 0.
[[nodiscard]] bool is_version_below(std::string_view version, std::string_view minimum);

}  // namespace wardcase::policies
