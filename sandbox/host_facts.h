// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <string>

#include "sandbox/cgroup.h"
#include "sandbox/host_probe.h"
#include "sandbox/restrictions.h"
#include "sandbox/sys/error.h"

namespace wardcase::sandbox {

// What became of making a leaf as a run would.
struct CgroupTrial {
  std::string error;   // why there is none; "": there was one
  std::string why;     // controllers that it went without, as CgroupHost::create has it
  std::string parent;  // where it was
  Enforcement memory = Enforcement::none;
  Enforcement pids = Enforcement::none;
  Enforcement cpus = Enforcement::none;
  bool can_kill = false;
  bool was_removed = true;
  bool has_hierarchies = false;  // any are mounted
  bool has_v1_controllers = false;
};

// All that check_host() judges by. What was tried was tried for real.
struct HostFacts : Restrictions {
  std::string kernel_release;  // uname -r
  bool can_choose_ids = false;
  std::uint32_t pool_ids = 0;  // host ids that root gave to this user's boxes (id_pool.h)
  bool can_map_ids = false;    // else he has some of /etc/subuid, and newuidmap(1)
  std::string pool_error;      // why those that are there can't be used; "" else
  sys::Result<ProbeErrors> probe = ProbeErrors();
  CgroupTrial cgroups;
  bool has_pressure = false;      // pressure stall information, proc(5)
  bool has_user_manager = false;  // systemd runs one for this user
  std::uint64_t open_files = 0;   // the hard limit
};

// Looks and tries, in processes and control groups that are gone afterwards. Takes some
// 20 ms. Never fails: what can't be tried stands in its place.
[[nodiscard]] HostFacts observe_host();

}  // namespace wardcase::sandbox
