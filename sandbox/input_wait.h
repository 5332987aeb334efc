// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/types.h>

#include <optional>

namespace wardcase::sandbox {

// Whether some thread of the box below `init` (by the host's number) waits for input from a pipe
// and there is none: it is blocked in a read of the pipe, or in a poll, select or epoll that asks
// for that. `pipe` is either end of it. Whoever writes to it must not do so meanwhile.
// nullopt: it can't be known, as a process may not be looked at (ptrace(2)).
[[nodiscard]] std::optional<bool> is_input_awaited(pid_t init, int pipe);

}  // namespace wardcase::sandbox
