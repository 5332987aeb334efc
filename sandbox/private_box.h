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

// Writes what takes the place of namespaces into the plan: the host's ids, the places in the
// private directory, and Landlock's rules for the rest. Errors name the path.
[[nodiscard]] sys::Status put_private_box_into(PlanBuilder& plan, FdTable& fds,
                                               const LaunchRequest& request,
                                               const std::vector<LayoutBind>& binds);

}  // namespace wardcase::sandbox
