// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sandbox/sys/error.h"
#include "supervisor/cli/run_options.h"
#include "supervisor/run/run_spec.h"

namespace wardcase::supervisor {

// The values of --file, "NAME=PATH". Errors name the value and what to write.
[[nodiscard]] sys::Result<std::vector<NamedFile>> parse_named_files(
    std::span<const std::string> texts);

// Opens them with the caller's rights and puts them into the box, beside what `spec` puts there
// already. Nothing may be in the way: the program's own file, a mount, a workspace.
[[nodiscard]] sys::Status place_named_files(const std::vector<NamedFile>& files, RunSpec& spec);

}  // namespace wardcase::supervisor
