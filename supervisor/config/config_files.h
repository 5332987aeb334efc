// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <optional>
#include <string>

#include "sandbox/sys/error.h"

namespace wardcase::supervisor {

// The text of a configuration file; nullopt where there is none. Only regular
// files of up to 1 MiB are read, and nothing that is one later is waited for: the file of a
// working directory comes with code that nobody has read.
[[nodiscard]] sys::Result<std::optional<std::string>> read_config_file(const std::string& path);

// The rest of what is open there; `path` is its name in errors. The same bounds hold.
[[nodiscard]] sys::Result<std::string> read_regular_file(int fd, const std::string& path);

}  // namespace wardcase::supervisor
