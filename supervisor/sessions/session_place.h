// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"

namespace wardcase::supervisor {

// Where the sessions of this user listen that no service holds, each on a socket that has its
// name. The directory is the user's alone, and so are the sessions.

// A directory below the runtime directory; made, mode 0700, where it is missing. Fails where it is
// somebody else's.
[[nodiscard]] sys::Result<std::string> runtime_subdirectory(const std::string& name);

// The directory of them; made where it is missing.
[[nodiscard]] sys::Result<std::string> sessions_directory();
[[nodiscard]] std::string session_socket(const std::string& directory, std::string_view id);

// A connection to whoever keeps the session. ENOENT: there is no such session.
[[nodiscard]] sys::Result<sys::UniqueFd> connect_session(std::string_view id);

// The same by its socket, and never waits: EAGAIN where the keeper is too busy to be connected.
[[nodiscard]] sys::Result<sys::UniqueFd> connect_to_keeper(const std::string& socket);

// Those that live, in order of their names. What dead keepers left is removed.
[[nodiscard]] sys::Result<std::vector<std::string>> list_sessions();

}  // namespace wardcase::supervisor
