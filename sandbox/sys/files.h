// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <dirent.h>
#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"

namespace wardcase::sys {

// Small files, named from a directory: `directory` is a descriptor or AT_FDCWD
// (an absolute path ignores it). Errors name the path, not the directory.

// openat(2), always close-on-exec.
[[nodiscard]] Result<UniqueFd> open_at(int directory, const char* path, int flags, mode_t mode = 0);

// The whole content. For files that end: /proc, cgroup and configuration files.
[[nodiscard]] Result<std::string> read_file(int directory, const char* path);

// Writes `text` to a file that exists, in one write(2), as kernel files need
// it; a short write is an error.
[[nodiscard]] Status write_file(int directory, const char* path, std::string_view text);

// The names of one type (DT_DIR, DT_REG, readdir(3)) in a directory, without
// those that begin with a dot. None where the directory can't be read.
[[nodiscard]] std::vector<std::string> list_directory(const std::string& path, unsigned char type);

}  // namespace wardcase::sys
