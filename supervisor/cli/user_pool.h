// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include "sandbox/id_pool.h"
#include "sandbox/sys/error.h"

namespace wardcase::supervisor {

// Host ids for the boxes of this caller, an ordinary user, of the range that /etc/subuid and
// /etc/subgid give him, mapped by newuidmap(1) and newgidmap(1). Takes some milliseconds.
// Errors say what is missing.
[[nodiscard]] sys::Result<sandbox::IdPool> make_user_pool();

}  // namespace wardcase::supervisor
