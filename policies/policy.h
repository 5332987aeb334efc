// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace wardcase::policies {

enum class MountMode : std::uint8_t { read_only, read_write };

// A host path made visible in the box.
struct Mount {
  std::string source;  // absolute host path
  std::string target;  // absolute path in the box
  MountMode mode = MountMode::read_only;
};

enum class Network : std::uint8_t { none, host };

}  // namespace wardcase::policies
