// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <span>
#include <string>

#include "policies/policy.h"

namespace wardcase::supervisor {

// The first link on the way to `path` that stands in a directory which one of `mounts` lets
// the program write to, and leads out of all of these; "" without one. A program may have left
// it there in an earlier run, for us to read or write another file of the host in its place.
[[nodiscard]] std::string planted_link(const std::string& path,
                                       std::span<const policies::Mount> mounts);

}  // namespace wardcase::supervisor
