// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>

namespace wardcase::supervisor {

// For the service: starts the keeper of the session that the request on stdin asks for, under this
// id and on this socket. Prints nothing, or the problem document of why there is no such session.
[[nodiscard]] int session_keep(const std::string& id, const std::string& socket);

}  // namespace wardcase::supervisor
