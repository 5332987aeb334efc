// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/types.h>

#include <string>

#include "sandbox/sys/error.h"

namespace wardcase::supervisor {

// Asks the service manager that listens at `socket` for a transient scope with this
// process in it and its control group delegated (StartTransientUnit of
// org.freedesktop.systemd1(5)), and waits until it is there, three seconds at most for each of
// the manager's answers. The
// scope goes when its last process has ended.
[[nodiscard]] sys::Status start_scope(const std::string& socket, pid_t pid);

}  // namespace wardcase::supervisor
