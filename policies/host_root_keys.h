// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include "policies/policy_entry.h"

namespace wardcase::policies {

// [[host_root]]: below it requests to the service may name directories and files of the host.
[[nodiscard]] sys::Status read_host_roots(const Entry& entry);

}  // namespace wardcase::policies
