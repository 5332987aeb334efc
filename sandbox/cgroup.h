// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"

namespace wardcase::sandbox {

// Who holds a limit (the record's `enforced_by`).
enum class Enforcement : std::uint8_t { none, rlimit, watcher, cgroup1, cgroup2 };

struct CgroupLimits {
  std::optional<std::uint64_t> memory_bytes = std::nullopt;
  std::optional<std::uint64_t> pids = std::nullopt;  // of the program's tree; init is added by us
  std::optional<std::uint64_t> millicpus = std::nullopt;
  // v2: when memory is spent all processes are killed, not one of them. v1 knows no such thing.
  bool oom_kills_all = true;
};

struct CgroupUsage {
  std::optional<std::uint64_t> memory_peak_bytes;
  std::optional<std::chrono::microseconds> cpu;
  std::optional<std::uint64_t> processes_peak;  // threads count; without init
  std::optional<std::uint64_t> oom_kills;
  bool pids_limit_hit = false;
};

// What a memory event meant, read at the moment it came.
enum class OomEvent : std::uint8_t { nothing, box, host };

// The control groups that hold one run: a leaf in the v2 tree, or one in each v1
// controller and on hybrid hosts a v2 one beside them, which gives identity and
// cgroup.kill. All limits are written
// before anything enters. The destructor kills what is inside and removes the leaves,
// without waiting; remove() is the orderly way.
class Cgroup {
 public:
  Cgroup() = default;
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;
  virtual ~Cgroup() = default;

  // For CLONE_INTO_CGROUP: a descriptor of the v2 leaf; -1 without one.
  [[nodiscard]] virtual int clone_into_fd() const = 0;
  // v1 `tasks` files open for writing: the child writes "0" to each, which moves one
  // thread and skips the lock that makes cgroup.procs slow.
  [[nodiscard]] virtual std::span<const int> tasks_fds() const = 0;
  // Closes the tasks descriptors in the parent, once the child has its copies.
  virtual void close_tasks() = 0;

  [[nodiscard]] virtual Enforcement memory() const = 0;
  [[nodiscard]] virtual Enforcement pids() const = 0;
  [[nodiscard]] virtual Enforcement cpus() const = 0;
  [[nodiscard]] virtual bool can_kill() const = 0;

  // Readable when memory ran out somewhere that concerns this leaf; -1 without
  // one. Which epoll events to wait for: EPOLLIN (v1 eventfd) or EPOLLPRI (v2 file).
  [[nodiscard]] virtual int oom_fd() const = 0;
  [[nodiscard]] virtual std::uint32_t oom_epoll_events() const = 0;
  // Consumes the event and says whose limit it was: box for the leaf's own, host
  // for an ancestor's (which fires it too). Call it before remove(), as removing
  // a v1 leaf makes the descriptor readable as well.
  [[nodiscard]] virtual OomEvent read_oom_event() = 0;

  // SIGKILL to everything inside, frozen or not. At once with a v2 leaf; else it
  // waits, bounded, until nothing is left inside. Errors say why.
  [[nodiscard]] virtual sys::Status kill() = 0;
  // Freezes or thaws the whole box (cgroup.freeze, v1 freezer); false where neither is there.
  virtual bool set_frozen(bool frozen) = 0;
  [[nodiscard]] virtual CgroupUsage read_usage() const = 0;

  // Removes the leaves. EBUSY: something is still being torn down, call again in
  // a millisecond or so. Never blocks.
  [[nodiscard]] virtual sys::Status remove() = 0;
};

// What the host offers, found once by /proc/self/mountinfo and /proc/self/cgroup.
class CgroupHost {
 public:
  // What is offered to this process. Fails only where /proc can't be read.
  static sys::Result<CgroupHost> find();
  // Reads the texts of /proc/self/mountinfo and /proc/self/cgroup. Never fails: a
  // host without usable hierarchies simply offers none.
  static CgroupHost discover(const std::string& mountinfo, const std::string& own_groups = "");

  // Whether this caller may make groups somewhere; most ordinary users may not.
  [[nodiscard]] bool may_create() const;

  // Whether the v2 tree has the controllers.
  [[nodiscard]] bool is_v2() const { return is_v2_; }

  // Whether controllers are in hierarchies of version 1, which are not for ordinary users.
  [[nodiscard]] bool has_v1_controllers() const;

  // Makes the leaves of a run under `wardcase/` in each hierarchy, named
  // `leaf`, which begins with the name of the supervisor's lock (state_lock.h),
  // up to the first dot. A controller that is missing or can't be written is left
  // out (its enforcement reads none) and `why` names it with the reason. Fails
  // only where a leaf was begun and could not be finished (limits not written).
  // nullptr: nothing at all could be had. On v2 this may move the calling process
  // into `supervisor/`, beside `wardcase/` (cgroup_v2.h).
  [[nodiscard]] sys::Result<std::unique_ptr<Cgroup>> create(const std::string& leaf,
                                                            const CgroupLimits& limits,
                                                            std::string* why) const;

  // Kills and removes leaves whose lock can be taken: their supervisor is dead. Those
  // whose lock is nowhere go when they are empty and ten minutes old. Returns how many went;
  // `unfinished` gets the locks of those that could not be removed yet.
  int sweep(const std::string& lock_directory, std::set<std::string>* unfinished = nullptr) const;

  struct Hierarchy {
    std::string controller;  // "memory", "pids", "cpu", "cpuacct", "freezer", "" for v2
    std::string mount_point;
    std::string group = "";  // v2: the group below it that is ours to use; "" for its root

    // Where the leaves are made.
    [[nodiscard]] std::string parent() const { return mount_point + group + "/wardcase"; }
  };
  [[nodiscard]] std::span<const Hierarchy> hierarchies() const { return hierarchies_; }

 private:
  std::vector<Hierarchy> hierarchies_;
  bool is_v2_ = false;  // the v2 tree has the controllers; the only hierarchy then
};

}  // namespace wardcase::sandbox
