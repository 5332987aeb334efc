// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/types.h>

#include <string>

namespace wardcase::test {

// What holds a process, as the host sees it: ids, capabilities, filters, signals, limits,
// namespaces, mounts, descriptors, control groups and what those allow. What differs from run to
// run (leased ids, names of leaves, numbers of inodes) is replaced, so that two runs can be
// compared.
[[nodiscard]] std::string describe_confinement(pid_t process);

}  // namespace wardcase::test
