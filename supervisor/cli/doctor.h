// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sandbox/host_check.h"
#include "supervisor/cli/interpreters.h"
#include "supervisor/cli/options.h"

namespace wardcase::supervisor {

// `wardcase doctor`: tries what a box needs of this host and prints what was found. Returns
// the exit code: 0 without a failure, else 1.
[[nodiscard]] int doctor_command(std::span<const std::string> words);
[[nodiscard]] std::vector<OptionRow> doctor_option_table();

// What is to be said of an interpreter: it has to be there, and to start.
[[nodiscard]] sandbox::HostCheck check_of(const FoundInterpreter& interpreter);

// One JSON object: schema_version, ok, and by check its name, state, detail and fix.
[[nodiscard]] std::string checks_to_json(std::span<const sandbox::HostCheck> checks);

}  // namespace wardcase::supervisor
