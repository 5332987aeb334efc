// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <vector>

#include "sandbox/box_layout.h"
#include "sandbox/launch_plan.h"
#include "sandbox/launch_request.h"
#include "sandbox/sys/error.h"

namespace wardcase::sandbox {

// The Landlock ABI of this kernel; 0 where it is off. Below 2 it is not used:
// ABI 1 forbids every rename between directories, which breaks git and pip.
[[nodiscard]] sys::Result<int> landlock_abi();
inline constexpr int kLowestLandlockAbi = 2;

// Writes the rules into the plan: all may be read and executed; only the
// writable places of the box may be written. Without execute_writable only what is
// bound read-only may be executed.
void put_landlock_into(PlanBuilder& plan, const LaunchRequest& request,
                       const std::vector<LayoutBind>& binds, bool has_program_directory);

}  // namespace wardcase::sandbox
