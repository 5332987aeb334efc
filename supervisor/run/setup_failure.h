// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/setup_report.h"

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

// What helps where no process with own namespaces can be made (errno of clone3 or of the id maps).
[[nodiscard]] std::string namespace_fix(int error);

}  // namespace wardcase::supervisor
