// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <vector>

namespace wardcase::sandbox {

// The processes of a box. `proc` is a descriptor of the box's own /proc (SetupMessage::Kind::proc),
// which lists them whatever became of their parents; it stays the caller's. A box without a pid
// namespace has none: then it is the host's, `init` has its number there, and the tree is
// walked from parent to child, so that what changes its parent meanwhile may be missed once.
struct ProcessTree {
  int proc = -1;
  pid_t init = 1;
};

// What they use: for hosts where no control group counts. Without a descriptor (-1), or
// once the box is gone, everything is 0.
struct TreeUsage {
  std::uint64_t processes = 0;  // alive, init and zombies not counted
  std::uint64_t threads = 0;    // of those
  // What RLIMIT_NPROC counts, init left out: threads, zombies, and what ended while we looked.
  std::uint64_t tasks = 0;
  std::uint64_t resident_bytes = 0;  // sum of resident sizes: shared pages count for each
  std::chrono::microseconds cpu{
      0};  // of those, of zombies, and of all that they and init waited for
};
[[nodiscard]] TreeUsage read_tree_usage(const ProcessTree& tree);

// The sum of proportional sizes (smaps_rollup): exact, and slow. Falls back to
// the resident size where a process forbids to look.
[[nodiscard]] std::uint64_t read_tree_pss(const ProcessTree& tree);

// All threads that live below init, itself left out, by the host's numbers: only such
// ones open a pidfd. They are found from parent to child in the host's /proc, so that
// what changes its parent meanwhile may be missed once.
[[nodiscard]] std::vector<pid_t> list_tree_threads(pid_t init);

// How many tasks this user has, all of them: what RLIMIT_NPROC counts, as far as /proc shows it.
[[nodiscard]] std::uint64_t count_tasks_of(uid_t user);

}  // namespace wardcase::sandbox
