// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "policies/syscall_policy.h"
#include "sandbox/cgroup.h"
#include "sandbox/launch_request.h"
#include "sandbox/state_lock.h"
#include "supervisor/run/host.h"
#include "supervisor/run/run_record.h"
#include "supervisor/run/run_spec.h"

namespace wardcase::supervisor {

// A run worked out: what is to be launched, what it holds on the host, who
// enforces each limit and what had to be replaced.
struct Preparation {
  sandbox::LaunchRequest request;
  std::unique_ptr<sandbox::Cgroup> cgroup;  // nullptr: no control group could be had
  std::optional<sandbox::IdLease> lease;
  std::optional<sandbox::PrivateDirectory> directory;  // of a box without namespaces
  policies::SyscallPolicy syscalls;                    // what request.filter was compiled from
  policies::Limits limits;                             // resolved
  bool goes_on_after_oom = false;  // the kernel ends one process when memory is spent
  std::array<sandbox::Enforcement, policies::kLimitCount> enforced_by{};
  Isolation isolation;
};

// RunSpec -> LaunchRequest. `spec` must outlive the launch: its descriptors are
// borrowed. Fails, before anything runs, where a limit that was asked for by name
// can't be enforced, or where a feature that spec.require names can't be had: the error
// then has the feature, the reason and the fix. `made` holds what was settled till then.
[[nodiscard]] sys::Status prepare(const RunSpec& spec, Host& host, Preparation& made);

// What of the host the box shows besides what every box has.
[[nodiscard]] std::vector<sandbox::BindRequest> binds_of(const RunSpec& spec);

// Directories of the box's PATH in `environment`.
[[nodiscard]] std::vector<std::string> path_directories(
    const std::vector<std::string>& environment);

}  // namespace wardcase::supervisor
