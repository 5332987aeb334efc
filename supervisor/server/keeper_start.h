// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <memory>
#include <string>

#include "sandbox/sys/error.h"
#include "supervisor/cli/session_options.h"

namespace wardcase::supervisor {

// Starts the keeper of a new session, which listens on that socket and lives on when this process
// has ended; returns when it can be used. A process that ends before that takes the keeper along.
[[nodiscard]] sys::Status start_keeper(const std::shared_ptr<const SessionOptions>& options,
                                       const std::string& socket);

}  // namespace wardcase::supervisor
