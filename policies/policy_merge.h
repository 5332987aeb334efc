// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string_view>

#include "policies/policy.h"

namespace wardcase::policies {

// Lays `over` on `under`: its values stand, its lists are added. A value that is
// built in never replaces one that a file set. Variables of one name: the later counts.
[[nodiscard]] Policy lay_over(Policy under, const Policy& over);

// What files say, from the weakest to the strongest. The order is that of
// precedence, with one exception: a project comes with code that nobody has read, so its
// file may only tighten.
struct PolicyLayers {
  Policy system;   // the administrator's configuration
  Policy user;     // the caller's
  Policy policy;   // the chosen one, laid over what it extends
  Policy project;  // that of the working directory
};

// All layers on the built-in policy: complete. Fails, by name and place, on a
// value of the project that is looser than what holds without it, and on a maximum above
// the administrator's.
[[nodiscard]] sys::Result<Policy> combine(const PolicyLayers& layers);

}  // namespace wardcase::policies
