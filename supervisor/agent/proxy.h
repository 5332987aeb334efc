// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

namespace wardcase::agent {

// Runs `command` with variables that name a proxy: a port of the box's own loopback, of which
// each connection is handed to the supervisor, one byte and the descriptor a message. Returns
// the exit status: the command's, 128 and its signal, 127 or 126 where it could not be executed,
// 125 where there can be no proxy.
[[nodiscard]] int run_with_proxy(char** command) noexcept;

}  // namespace wardcase::agent
