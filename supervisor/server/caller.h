// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/types.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/config/token_file.h"

namespace wardcase::supervisor {

// Who asks, and to whom what was asked for belongs. gate.h makes them.
struct Caller {
  // As "uid:1000" or "token:ci"; of TCP without tokens, where nobody is known, "anybody".
  std::string name;
  bool is_admin = false;  // sees and ends what is everybody's
  std::optional<uid_t> user = std::nullopt;
  std::vector<gid_t> groups = {};
  std::array<bool, kScopeCount> scopes = {true, true, false};

  [[nodiscard]] bool may(Scope scope) const {
    return is_admin || scopes[static_cast<std::size_t>(scope)];
  }
  // Of what is not his, he is to learn nothing.
  [[nodiscard]] bool may_see(const std::string& owner) const { return is_admin || name == owner; }
};

}  // namespace wardcase::supervisor
