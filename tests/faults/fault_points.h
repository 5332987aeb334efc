// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>
#include <vector>

#include "tests/faults/traced_run.h"

namespace wardcase::test {

// The name of a system call on this machine.
[[nodiscard]] std::string call_name(long call);

// The errors, of EINTR, ENOMEM, EMFILE, ENOSPC, EIO and EPERM, that the call may give whatever its
// arguments. Empty: it can't fail, or fails only for its arguments.
[[nodiscard]] const std::vector<int>& errors_of(long call);

// Every call of a recorded run with every error that it may give.
[[nodiscard]] std::vector<Fault> all_faults(const std::vector<CallSite>& calls);

// For people: "s0 openat 3 EIO".
[[nodiscard]] std::string describe(const Fault& fault);

}  // namespace wardcase::test
