// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/types.h>

#include <span>
#include <vector>

#include "supervisor/run/workspace_walk.h"

namespace wardcase::supervisor {

// Files without a name take room as well, as long as a process has them open: a
// program could fill a disk with what no walk finds. This finds them through the
// descriptors of the processes that the box's /proc lists, in small steps.
class HeldFiles {
 public:
  HeldFiles(int proc, std::span<const WorkspaceRoot> roots, timespec began);

  // Adds what it finds to the walk; true: all processes have been asked.
  bool step(Clock::time_point until, WorkspaceWalk& walk);

 private:
  void ask(pid_t process, WorkspaceWalk& walk) const;
  [[nodiscard]] bool is_of_the_run(const struct stat& file, int directory, const char* name) const;

  int proc_;
  std::vector<pid_t> processes_;  // not yet asked
  std::span<const WorkspaceRoot> roots_;
  timespec began_;
};

}  // namespace wardcase::supervisor
