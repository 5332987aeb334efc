// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <span>
#include <string>

namespace wardcase::supervisor {

// `wardcase session new`: starts a keeper for a new session, which lives on when this process has
// ended, and prints the session's id. `words`: what follows `new`. Returns the exit code.
[[nodiscard]] int session_new(std::span<const std::string> words);

}  // namespace wardcase::supervisor
