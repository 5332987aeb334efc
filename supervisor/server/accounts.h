// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/types.h>

#include <string>

#include "sandbox/sys/error.h"

namespace wardcase::supervisor {

// Users and groups of this host by name or number, as its databases have them; those may be
// across a network, so that nobody asks them for each request.
[[nodiscard]] sys::Result<uid_t> find_user_id(const std::string& name);
[[nodiscard]] sys::Result<gid_t> find_group_id(const std::string& name);

}  // namespace wardcase::supervisor
