// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <memory>
#include <string>

#include "sandbox/cgroup.h"
#include "sandbox/cgroup_delegation.h"
#include "sandbox/sys/error.h"

namespace wardcase::sandbox {

// The backend for hosts whose v2 tree has the controllers. Promises what
// CgroupHost::create() does, with the leaf in `wardcase/` in `group`.
[[nodiscard]] sys::Result<std::unique_ptr<Cgroup>> create_cgroup_v2(const std::string& group,
                                                                    const std::string& leaf,
                                                                    const CgroupLimits& limits,
                                                                    const CgroupCalls& calls,
                                                                    std::string* why);

}  // namespace wardcase::sandbox
