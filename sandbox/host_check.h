// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

// Tries all of it for real, in processes and control groups that are gone
// afterwards, since what settings say and what the kernel does often differ. Takes some
// 20 ms. Never fails: what can't be tried is a check that failed.
[[nodiscard]] std::vector<HostCheck> check_host();

}  // namespace wardcase::sandbox
