// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>

#include "sandbox/sys/error.h"

namespace wardcase::sandbox {

// How many capabilities this kernel knows: the child drops 0 up to here.
[[nodiscard]] std::uint32_t capability_count();

// Whether we can make boxes with ids of our own choice: root with the
// capabilities for mounts, ids and ownership, in a user namespace where every id is mapped.
[[nodiscard]] sys::Result<bool> can_choose_ids();

// The same for a box without namespaces, which takes less: the capabilities to become another user,
// and to look after what he leaves, in a user namespace that has `id`.
[[nodiscard]] sys::Result<bool> can_become(std::uint32_t id);

}  // namespace wardcase::sandbox
