// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include "policies/policy_entry.h"

namespace wardcase::policies {

// [network.install]: the indexes that requirements may be installed from.
[[nodiscard]] sys::Status read_install_urls(const Entry& entry);

// [install]: directories of wheels, and limits by the keys of [limits].
[[nodiscard]] sys::Status read_install(const Entry& entry);

}  // namespace wardcase::policies
