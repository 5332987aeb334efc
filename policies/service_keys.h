// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include "policies/policy_entry.h"

namespace wardcase::policies {

// What a configuration alone can say: [server], [[access]] and [quota.NAME].
[[nodiscard]] sys::Status read_server(const Entry& entry);
[[nodiscard]] sys::Status read_access(const Entry& entry);
[[nodiscard]] sys::Status read_quotas(const Entry& entry);

}  // namespace wardcase::policies
