// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <vector>

#include "sandbox/bind_sources.h"
#include "sandbox/box_layout.h"
#include "sandbox/launch_plan.h"
#include "sandbox/launch_request.h"
#include "sandbox/sys/error.h"

namespace wardcase::sandbox {

// The Landlock ABI of this kernel; 0 where it is off. Below 2 it is not used:
// ABI 1 forbids every rename between directories, which breaks git and pip.
[[nodiscard]] sys::Result<int> landlock_abi();
inline constexpr int kLowestLandlockAbi = 2;
inline constexpr int kLandlockTruncateAbi = 3;  // truncate(2) by path
inline constexpr int kLandlockNetworkAbi = 4;   // TCP ports
inline constexpr int kLandlockScopeAbi = 6;     // signals and abstract sockets

// Writes the rules into the plan: all may be read and executed; only the
// writable places of the box may be written. Without execute_writable only what is
// bound read-only may be executed.
void put_landlock_into(PlanBuilder& plan, const LaunchRequest& request,
                       const std::vector<LayoutBind>& binds, bool has_program_directory);

// The same for a box without namespaces, where this is the only wall: what the layout shows of the
// host may be read there (and executed), what is mounted writable and the private directory
// written to, and nothing else of the host be opened. Errors name the path.
[[nodiscard]] sys::Status put_host_rules_into(PlanBuilder& plan, FdTable& fds,
                                              const LaunchRequest& request,
                                              const std::vector<LayoutBind>& binds);

}  // namespace wardcase::sandbox
