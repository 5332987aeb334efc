// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <chrono>
#include <string_view>

namespace wardcase::supervisor {

// [A-Za-z0-9._-]{1,64}, and not only dots.
[[nodiscard]] bool is_session_id(std::string_view text);

// How long a session lives, and how long without being used.
inline constexpr std::chrono::hours kLongestTtl{24};
inline constexpr std::chrono::hours kDefaultTtl{1};
inline constexpr std::chrono::minutes kDefaultIdleTtl{30};

}  // namespace wardcase::supervisor
