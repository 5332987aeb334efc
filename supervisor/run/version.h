// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string_view>

namespace wardcase::supervisor {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace wardcase::supervisor
