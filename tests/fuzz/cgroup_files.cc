// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// What the kernel and the administrator tell of control groups and ids.
#include "sandbox/cgroup_files.h"

#include <string>
#include <string_view>

#include "sandbox/cgroup.h"
#include "sandbox/state_lock.h"
#include "tests/fuzz/fuzz_target.h"

namespace sandbox = wardcase::sandbox;
using wardcase::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (sandbox::parse_number(text)) {
    require(text.front() >= '0' && text.front() <= '9', "a number begins with a digit");
  }
  for (const std::string_view key : {"oom_kill", "usage_usec", "max", ""}) {
    if (sandbox::parse_keyed(text, key)) {
      require(text.find(std::string(key) + " ") != std::string::npos, "a key that is there");
    }
  }
  const auto host = sandbox::CgroupHost::discover(text);
  for (const auto& hierarchy : host.hierarchies()) {
    require(hierarchy.mount_point.starts_with('/'), "a mount point is an absolute path");
  }
  require(host.hierarchies().size() <= 6, "each controller once at most");
  (void)sandbox::parse_subordinate_ids(text);
  return 0;
}
