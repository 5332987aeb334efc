// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>

#include "supervisor/server/exchange.h"

namespace wardcase::supervisor {

// Who asks, and to whom what was asked for belongs.
struct Caller {
  // As "uid:1000"; of TCP, where the kernel knows nobody, "anybody".
  std::string name;
  bool is_admin = false;  // sees and ends what is everybody's

  // Of what is not his, he is to learn nothing.
  [[nodiscard]] bool may_see(const std::string& owner) const { return is_admin || name == owner; }
};

// Root and the service's own user are administrators.
[[nodiscard]] Caller caller_at(const Peer& peer);

}  // namespace wardcase::supervisor
