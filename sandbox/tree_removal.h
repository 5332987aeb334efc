// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <chrono>
#include <string>

#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"

namespace wardcase::sandbox {

// A directory that a program of the same id may have closed to its owner, no link. errno as
// openat(2) where it can't be opened.
[[nodiscard]] sys::UniqueFd open_tree(int in, const char* name);

// Removes `path`, which `directory` (open_tree) is, and all that is in it. Nothing in it may
// move any more. False: the time was up, there is more to do.
[[nodiscard]] sys::Result<bool> remove_tree(const std::string& path, int directory,
                                            std::chrono::steady_clock::time_point until);

}  // namespace wardcase::sandbox
