// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/run/event_loop.h"
#include "supervisor/run/held_files.h"
#include "supervisor/run/workspace_walk.h"

namespace wardcase::supervisor {

// Holds a run to a budget of bytes and inodes in the host directories that it may
// write to, all together, beyond what they held at its start: by looking, as an
// ordinary directory has no quota of its own. Three looks, in this order: the first
// before the program starts, the watch while it runs, the last when nothing of it
// lives any more and so nothing moves. Destroying it ends whatever is under way.
//
// While the free space of the file system says that the budget can't be used up yet
// only that is read; else, and now and then all the same (somebody else may have made
// room), the trees are walked in slices of some milliseconds.
class WorkspaceQuota {
 public:
  using Done = std::function<void()>;

  struct Rules {
    DiskUse most;                       // what may be added
    std::uint64_t countable_files = 0;  // where more are there at the start, nothing is watched
    std::uint64_t open_files = 0;       // of one process
    // Whose the program's files are on the host; nullopt: those of each directory's own
    // owner, as its ids are mapped.
    std::optional<uid_t> owner;
  };

  // Fails where a directory can't be opened, naming it.
  static sys::Result<std::unique_ptr<WorkspaceQuota>> open(EventLoop& loop,
                                                           const std::vector<std::string>& paths,
                                                           const Rules& rules);
  WorkspaceQuota(const WorkspaceQuota&) = delete;
  WorkspaceQuota& operator=(const WorkspaceQuota&) = delete;
  ~WorkspaceQuota();

  // What the first look found that stands against a watch, as sentences; "" for nothing.
  struct FirstLook {
    std::string refused;      // a file that must not be given away: nothing may run
    std::string uncountable;  // too many files: nothing can be watched
  };
  // Counts what is there. Each `done` is called once, perhaps before the call returns,
  // and may destroy this.
  void measure_first(std::function<void(const FirstLook&)> done);
  // `over` is called once, when two looks in a row found more than the budget.
  void watch(pid_t init, Done over);
  // Ends the watch and looks once more; then is_over() is the truth. Directories that the
  // program closed to their own owner are opened to him again.
  void measure_last(Done done);

  [[nodiscard]] bool is_over() const;
  [[nodiscard]] const std::vector<WorkspaceRoot>& roots() const { return roots_; }

 private:
  WorkspaceQuota(EventLoop& loop, std::vector<WorkspaceRoot> roots, const Rules& rules);

  void walk(const WalkRules& with, std::chrono::seconds longest, Done walked);
  void walk_again();
  [[nodiscard]] WalkRules walk_rules(Reopen reopen) const;
  void go_on();
  void look();
  void judge();
  void plan_next_look();
  [[nodiscard]] DiskUse free_space() const;
  [[nodiscard]] DiskUse used() const;
  [[nodiscard]] bool could_be_over(const DiskUse& lost) const;

  EventLoop& loop_;
  std::vector<WorkspaceRoot> roots_;
  Rules rules_;
  timespec began_ = {};
  DiskUse at_first_;

  std::optional<WorkspaceWalk> walk_;
  std::optional<HeldFiles> held_;
  Done walked_;
  Clock::time_point walk_began_;
  Clock::time_point walk_deadline_;
  Clock::duration walk_took_{0};
  DiskUse free_at_walk_;
  bool is_given_up_ = false;  // the walk took too long

  pid_t init_ = -1;  // of the box that is watched
  bool was_over_ = false;
  Done over_;
  EventLoop::TimerId timer_ = 0;
};

}  // namespace wardcase::supervisor
