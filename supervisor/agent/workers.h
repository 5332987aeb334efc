// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

namespace wardcase::agent {

// Starts and signals workers as the supervisor says and tells their ends, until its socket
// closes; then the process ends, and with the box's first program the box.
[[noreturn]] void serve_workers() noexcept;

}  // namespace wardcase::agent
