// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <linux/filter.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sandbox/setup_report.h"

namespace wardcase::sandbox {

// The plan: all that the child needs, worked out by the parent before clone3.
//
// It is one contiguous buffer: the header below, then texts and lists. It holds
// no pointer, only offsets from its own start and indexes into a table of
// descriptors that travels beside it, so that it can be sent to another process
// as it is, and the child resolves it in place. Only plain data: the child never
// allocates.

using Offset = std::uint32_t;  // 0: none (the header stands there)
using FdIndex = std::int32_t;  // -1: none
struct Slice {
  Offset at = 0;
  std::uint32_t count = 0;
};

struct PlanDirectory {
  Offset path;  // relative to the file system it stands on
  mode_t mode;
};
struct PlanSymlink {
  Offset target;
  Offset path;
};
struct PlanText {  // a small file made by us
  Offset path;
  Offset text;
  std::uint32_t size;
  std::uint32_t on_scratch;  // which file system `path` is relative to
};
struct PlanFile {  // a file whose bytes come from a descriptor
  Offset path;     // relative to the scratch file system
  FdIndex content;
  mode_t mode;
};
struct PlanBind {
  Offset source;
  Offset target;  // relative to the new root
  FdIndex tree;   // a detached tree that the parent prepared; -1: the child opens `source`
  std::uint32_t recursive;
  std::uint64_t attributes;  // MOUNT_ATTR_*
  std::uint64_t device;      // what `source` was when the parent looked
  std::uint64_t inode;
};
struct PlanSubBind {  // a directory of the scratch file system, by its place in the box
  Offset name;
  Offset target;
};
struct PlanPathRule {  // Landlock
  Offset path;
  FdIndex opened;  // -1: the child opens `path`
  std::uint64_t access;
};
struct PlanRlimit {
  std::uint32_t resource;
  std::uint32_t padding;
  std::uint64_t soft;
  std::uint64_t hard;
};

struct LaunchPlan {
  // For tests alone: the step that fails, and with which errno. none: no step.
  SetupStep fault_step = SetupStep::none;
  std::int32_t fault_error = 0;

  std::uint32_t inside_uid = 0;
  std::uint32_t inside_gid = 0;
  bool keep_groups = false;  // setgroups is denied to us: what the caller has stays
  bool own_network = true;
  // Without namespaces: the ids are the host's, the places to write to are below a directory, and
  // init ends the tree.
  bool own_namespaces = true;
  bool has_privilege = true;     // over the bounding set and the secure bits
  bool confine_signals = false;  // init's, and so those of all below it
  bool ends_by_signal = false;   // who init can signal is of the box: no walk is needed
  pid_t supervisor = -1;         // whom the box must not be able to signal
  FdIndex private_directory = -1;
  bool use_landlock = false;
  bool execute_scratch = true;  // false: nothing on the writable file system can be executed
  bool hold_at_exec = false;

  FdIndex setup = -1;  // the child's ends
  FdIndex life = -1;
  FdIndex parent_setup = -1;  // the supervisor's, to be closed first
  FdIndex parent_life = -1;
  FdIndex stdio[3] = {-1, -1, -1};  // stdin -1: the box's own /dev/null
  FdIndex program_channel = -1;     // the program's fourth descriptor, if it has one
  bool own_terminal = false;        // takes the place of all three
  winsize terminal_size = {};
  Slice tasks;  // FdIndex: v1 tasks files

  Offset root_size = 0, root_inodes = 0, scratch_size = 0,
         scratch_inodes = 0;                    // texts for fsconfig(2)
  Slice root_directories, scratch_directories;  // PlanDirectory, parents first
  Slice symlinks;                               // PlanSymlink, on the root
  Slice texts;                                  // PlanText
  Slice files;                                  // PlanFile
  Slice binds;                                  // PlanBind, outer before inner
  Slice late_binds;                             // PlanBind: targets on the scratch file system
  Slice sub_binds;                              // PlanSubBind
  Slice proc_read_only, proc_masks;             // Offset of names in /proc
  Offset hostname = 0;
  Offset directory = 0;  // the program's working directory

  Slice rlimits;  // PlanRlimit
  bool pin_cpus = false;
  cpu_set_t cpus = {};
  std::uint32_t capability_count = 0;
  Slice path_rules;  // PlanPathRule
  std::uint64_t landlock_handled = 0;
  std::uint64_t landlock_net = 0;
  std::uint64_t landlock_scoped = 0;
  std::uint64_t landlock_size = 0;  // of the attribute structure that this kernel knows
  Slice filter, init_filter;        // sock_filter
  std::uint64_t backstop_ms = 0;    // init ends the box after this, whatever happened to us

  Slice exec_paths;         // Offset: tried in this order
  Slice argv, environment;  // std::uint64_t: offsets that the child turns into pointers; a last 0
  std::uint32_t size = 0;   // of the whole buffer
};
static_assert(std::is_trivially_copyable_v<LaunchPlan>);
static_assert(std::is_trivially_destructible_v<LaunchPlan>);

inline const char* plan_text(const LaunchPlan& plan, Offset at) noexcept {
  return reinterpret_cast<const char*>(&plan) + at;
}
template <typename T>
std::span<const T> plan_list(const LaunchPlan& plan, Slice slice) noexcept {
  return {reinterpret_cast<const T*>(reinterpret_cast<const char*>(&plan) + slice.at), slice.count};
}
template <typename T>
std::span<T> plan_list(LaunchPlan& plan, Slice slice) noexcept {
  return {reinterpret_cast<T*>(reinterpret_cast<char*>(&plan) + slice.at), slice.count};
}

// Puts a plan together. finish() gives the buffer; the builder is empty then.
class PlanBuilder {
 public:
  PlanBuilder();

  LaunchPlan header;

  Offset text(std::string_view text);  // copied, NUL-terminated
  template <typename T>
  Slice list(const std::vector<T>& items) {
    static_assert(std::is_trivially_copyable_v<T>);
    return append(items.data(), sizeof(T), alignof(T), items.size());
  }

  [[nodiscard]] std::vector<std::byte> finish();

 private:
  Slice append(const void* items, std::size_t size, std::size_t alignment, std::size_t count);
  std::vector<std::byte> buffer_;
};

}  // namespace wardcase::sandbox
