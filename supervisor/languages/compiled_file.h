// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <string>

#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"

namespace wardcase::supervisor {

// What a compiler may leave; more is no program.
inline constexpr std::uint64_t kMaxCompiledBytes = std::uint64_t{512} << 20;

// Copies the file `name` of a box's directory, which may hold anything: only a regular file of one
// name and of bounded size is taken, and no link is followed. To `path`, which is made (mode 0555),
// or into memory where that is "". The copy is open for reading.
[[nodiscard]] sys::Result<sys::UniqueFd> copy_compiled(int box_directory, const std::string& name,
                                                       const std::string& path);

// What tells a program of the host from another, or from itself after an upgrade: its real path,
// size, times and inode. Fails as stat(2).
[[nodiscard]] sys::Result<std::string> identity_of(const std::string& path);

}  // namespace wardcase::supervisor
