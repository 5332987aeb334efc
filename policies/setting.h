// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <optional>
#include <string>

#include "policies/limits.h"

namespace wardcase::policies {

// A value and where it was set: "FILE:LINE", or "built in".
template <typename T>
struct Setting {
  T value;
  std::string origin = std::string(kBuiltIn);

  [[nodiscard]] bool is_built_in() const { return origin == kBuiltIn; }
};
template <typename T>
using Maybe = std::optional<Setting<T>>;

// What `over` says stands; but what is built in never replaces what a file has set.
template <typename T>
void lay(Maybe<T>& under, const Maybe<T>& over) {
  if (over && (!under || !over->is_built_in())) under = over;
}

}  // namespace wardcase::policies
