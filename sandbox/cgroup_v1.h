// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <memory>
#include <span>
#include <string>

#include "sandbox/cgroup.h"
#include "sandbox/sys/error.h"

namespace wardcase::sandbox {

// The backend for v1 and hybrid hosts: v1 controllers for the limits, and a v2
// leaf, where there is a v2 tree, for identity, kill, freeze and cpu time.
// Promises what CgroupHost::create() does.
[[nodiscard]] sys::Result<std::unique_ptr<Cgroup>> create_cgroup_v1(
    std::span<const CgroupHost::Hierarchy> hierarchies, const std::string& leaf,
    const CgroupLimits& limits, std::string* why);

}  // namespace wardcase::sandbox
