// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sandbox/host_facts.h"

namespace wardcase::sandbox {

enum class CheckState : std::uint8_t {
  ok,
  warn,  // boxes work, with something less
  fail,  // no box can be made
};

// One thing that a box needs of this host.
struct HostCheck {
  std::string name;
  CheckState state = CheckState::ok;
  std::string detail;  // what was found, or the cause of the failure
  std::string fix;     // what to do, "" where there is nothing
};

// What the facts mean for boxes. Pure: the same facts give the same checks.
[[nodiscard]] std::vector<HostCheck> judge_host(const HostFacts& facts);

// The host that we are on, tried for real, since what settings say and what the kernel
// does often differ. What can't be tried is a check that failed.
[[nodiscard]] std::vector<HostCheck> check_host();

}  // namespace wardcase::sandbox
