// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include "sandbox/sys/error.h"

namespace wardcase::supervisor {

// What a caller may have left us with that would go wrong later: closed standard
// descriptors, and dispositions of signals. First of all in main().
[[nodiscard]] sys::Status settle_what_was_inherited();

}  // namespace wardcase::supervisor
