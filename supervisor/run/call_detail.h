// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>
#include <string_view>

#include "policies/syscall_policy.h"

namespace wardcase::supervisor {

// What of a call's arguments tells why it was refused, in words: "CLONE_NEWUSER",
// "mode 04755". "" where they tell nothing. From the values alone: what a pointer leads
// to can be changed by the program at any time.
[[nodiscard]] std::string describe_arguments(std::string_view call,
                                             const policies::SyscallArguments& arguments);

}  // namespace wardcase::supervisor
