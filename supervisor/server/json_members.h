// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace wardcase::supervisor {

// No object of a request has more.
inline constexpr std::size_t kMostMembers = 1024;

// The first member that one object has twice, of which others may read the first and we the
// last. What follows an error is not looked into.
// Beyond kMostMembers of an object it knows the first ones only: the caller has to count them.
[[nodiscard]] std::optional<std::string> find_repeated_member(std::string_view json);

}  // namespace wardcase::supervisor
