// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <optional>
#include <string>

#include "sandbox/subordinate_ids.h"
#include "sandbox/sys/error.h"

namespace wardcase::supervisor {

// As root: makes the pool of host ids (sandbox/id_pool.h) of a user, named or by his number,
// from `ids`, or from what /etc/subuid and /etc/subgid give to him.
[[nodiscard]] sys::Status make_ids(const std::string& user,
                                   const std::optional<sandbox::IdRange>& ids);
// Lets it go again.
[[nodiscard]] sys::Status drop_ids(const std::string& user);

}  // namespace wardcase::supervisor
