// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string_view>

#include "policies/policy.h"

namespace wardcase::policies {

// A policy describes itself and may extend another; a configuration chooses one.
enum class FileKind : std::uint8_t { policy, configuration };

// Text in TOML -> what it says; `file` is its name in origins and errors. Refuses
// what it does not know and what it can't read, with place, key, value and what is
// accepted: `FILE:4:1: unknown key 'memry' in [limits]; did you mean 'memory'?`.
// Values that contradict each other are policy_check's.
[[nodiscard]] sys::Result<Policy> read_policy(std::string_view text, std::string_view file,
                                              FileKind kind);

// Groups of system calls: [groups] with NAME = ["call", ...].
[[nodiscard]] sys::Result<SyscallGroups> read_syscall_groups(std::string_view text,
                                                             std::string_view file);

}  // namespace wardcase::policies
