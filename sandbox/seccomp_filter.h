// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <vector>

#include "policies/syscall_policy.h"
#include "sandbox/sys/error.h"

namespace wardcase::sandbox {

// Compiles a policy to the program that seccomp(2) loads: an architecture
// check, an x32 check, then a binary search over sorted ranges of numbers.
// Names become numbers through libseccomp; numbers above the newest that we know answer
// ENOSYS. Of EPERM and of `kill` the supervisor is notified (notified_answers.h); of no
// errno that libraries probe for, and of no call of another architecture, which is killed
// at once. Fails on a name that neither libseccomp nor our table of newer calls
// knows, naming it, and on a program above BPF_MAXINSNS.
[[nodiscard]] sys::Result<std::vector<sock_filter>> compile_filter(
    const policies::SyscallPolicy& policy);

// Who ends what init leaves behind.
enum class EndOfTree : std::uint8_t { by_kernel, by_init };

// The filter of init: the few calls of its loop; anything else kills it (and
// with it the whole pid namespace).
[[nodiscard]] std::vector<sock_filter> init_filter(EndOfTree end = EndOfTree::by_kernel);

}  // namespace wardcase::sandbox
