// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "sandbox/sys/error.h"
#include "sandbox/sys/files.h"

namespace wardcase::sandbox {

// The part of a v2 tree that is ours, and the controllers that its leaves get.

// The calls whose outcome is the kernel's alone to give, so that tests can give it.
struct CgroupCalls {
  std::function<int(const char* path, mode_t mode)> make_directory = ::mkdir;
  std::function<sys::Status(int directory, const char* file, std::string_view text)> write_file =
      sys::write_file;
};

// Whether the v2 tree mounted at `mount_point`, and no v1 hierarchy, has the memory controller.
[[nodiscard]] bool has_memory_controller(const std::string& mount_point);

// Our own group as a path below the mount whose root is `mount_root` ("" for that
// root), from the text of /proc/self/cgroup; nullopt where the mount does not show it.
[[nodiscard]] std::optional<std::string> find_own_v2_group(std::string_view own_groups,
                                                           std::string_view mount_root);

// The group, as a path below `mount_point`, in which `wardcase/` belongs: the
// caller's own (or the one above it, if that is the `supervisor/` of a delegated
// one), which its owner may have delegated to us. Root, to whom all groups are
// open, takes the real root of the tree unless its own group is marked as delegated.
[[nodiscard]] std::string choose_v2_group(const std::string& mount_point,
                                          const std::optional<std::string>& own, uid_t caller);

// The controllers that runs want, by these indexes, and io.
enum ControllerIndex : std::size_t { memory_controller, pids_controller, cpu_controller };
using Controllers = std::array<bool, 4>;

// Makes `wardcase/` in `group` and brings down to its leaves what controllers can
// be had; returns those. What can't be had is added to `why` by name. Fails where
// no leaf can be made at all.
//
// A group that gives controllers to the groups in it may hold no processes (the
// real root may). If we are the only one in `group` we therefore move into
// `supervisor/` in it; beside others no controller is taken, and `why` says so.
[[nodiscard]] sys::Result<Controllers> prepare_leaf_parent(const std::string& group,
                                                           const CgroupCalls& calls,
                                                           std::string* why);

// Adds "SUBJECT: REASON" to the list that CgroupHost::create() promises.
void add_reason(std::string* why, std::string_view subject, std::string_view reason);

}  // namespace wardcase::sandbox
