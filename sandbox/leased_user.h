// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/types.h>

#include <string>

namespace wardcase::sandbox {

// Ends all processes of a host id that nobody has but one box, init included. False: it could not,
// as without root's capabilities. It comes back whatever these processes do to prevent that.
[[nodiscard]] bool end_all_of(uid_t user);

// As sweep_locks() (state_lock.h) for root's id leases: before a dead one's id can be had again,
// whoever still has it is ended.
void sweep_leased_ids(const std::string& directory);

}  // namespace wardcase::sandbox
