// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/error.h"

namespace wardcase::sandbox {

// Numbers and names of the system calls of this architecture: libseccomp's, and those that
// are newer than the libseccomp of our oldest hosts.

inline constexpr std::uint32_t kNewestCall = 469;  // file_setattr

// nullopt: a call that only other architectures have. Fails for what is no call at all.
[[nodiscard]] sys::Result<std::optional<std::uint32_t>> syscall_number(const std::string& name);

// "" where we know none.
[[nodiscard]] std::string syscall_name(std::uint32_t number);

// All that this architecture has, up to the newest that we know.
[[nodiscard]] std::vector<std::string> syscall_names();

}  // namespace wardcase::sandbox
