// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "supervisor/run/workspace_walk.h"

namespace wardcase::supervisor {

// Files without a name take room as well, as long as a process has them open: a
// program could fill a disk with what no walk finds. This finds them through the
// descriptors of all threads below `init`, in small steps.
class HeldFiles {
 public:
  // `most_open`: no descriptor of theirs has a higher number.
  HeldFiles(pid_t init, std::span<const WorkspaceRoot> roots, timespec began,
            std::uint64_t most_open);

  // Adds what it finds to the walk; true: all threads have been asked.
  bool step(Clock::time_point until, WorkspaceWalk& walk);

 private:
  // A descriptor of theirs as it can be looked at: `name` in `directory` by fstatat(2).
  struct Place {
    int directory;
    const char* name;
    int flags;
    bool is_writable;
  };

  void ask(pid_t thread, WorkspaceWalk& walk) const;
  void ask_one_by_one(pid_t thread, WorkspaceWalk& walk) const;
  void look_at(const Place& place, WorkspaceWalk& walk) const;
  [[nodiscard]] bool was_born_since(const Place& place) const;

  std::vector<pid_t> threads_;  // not yet asked
  std::span<const WorkspaceRoot> roots_;
  timespec began_;
  int most_open_;
};

}  // namespace wardcase::supervisor
