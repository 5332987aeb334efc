// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include "supervisor/cli/run_options.h"

namespace wardcase::supervisor {

// `wardcase run --session ID`: the program runs in that session, which is made if there is none.
// Returns the exit code.
[[nodiscard]] int run_in_session(const RunOptions& options);

}  // namespace wardcase::supervisor
