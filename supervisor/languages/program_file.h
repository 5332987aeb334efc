// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"

namespace wardcase::supervisor {

// A program longer than this is refused where it has to be held in memory.
inline constexpr std::uint64_t kMaxProgramBytes = 64 << 20;

// Opens a program's file, to be read from its start: a regular file as it is;
// anything else that can be read (a FIFO, /dev/fd/N) is read whole into sealed
// memory. Waits for whoever writes to a FIFO. Codes: EISDIR for a directory, EFBIG above
// kMaxProgramBytes, else as open(2) and read(2).
[[nodiscard]] sys::Result<sys::UniqueFd> open_program(const std::string& path);

// Reads all of `fd` into sealed memory. Codes: EFBIG, or as read(2).
[[nodiscard]] sys::Result<sys::UniqueFd> read_into_memory(int fd);

// A file in memory, and more of what it is to hold.
[[nodiscard]] sys::Result<sys::UniqueFd> make_memory();
[[nodiscard]] sys::Status append_to_memory(int memory, std::string_view text);

// Text as a sealed file in memory.
[[nodiscard]] sys::Result<sys::UniqueFd> text_in_memory(std::string_view text);

// Whether the kernel can execute the file itself: it begins as an ELF file or with "#!".
[[nodiscard]] sys::Result<bool> starts_like_executable(int fd);

}  // namespace wardcase::supervisor
