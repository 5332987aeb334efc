// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/setup_report.h"
#include "sandbox/sys/error.h"

namespace wardcase::supervisor {

// One sentence for a step of the launch that failed, naming the object, errno
// and, where the cause is known, what to do about it.
[[nodiscard]] std::string describe_setup_failure(sandbox::SetupStep step, int error,
                                                 std::string_view object);

// The same for a failed exec. `tried`: the paths, in order.
struct ExecFailure {
  int exit_code;  // 126 or 127
  std::string error;
};
[[nodiscard]] ExecFailure describe_exec_failure(int error, std::string_view name,
                                                const std::vector<std::string>& tried);

// The same for what failed on our side of the launch: the process could not be
// made or not be given its ids.
[[nodiscard]] std::string describe_launch_failure(const sys::Error& error);

}  // namespace wardcase::supervisor
