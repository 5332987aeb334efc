// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <vector>

namespace wardcase::sandbox {

// What the processes of a box use, read from the box's own /proc, which lists them
// whatever became of their parents: for hosts where no control group counts.
// `proc` is a descriptor of it (SetupMessage::Kind::proc) and stays the caller's;
// without one (-1), or once the box is gone, everything is 0.
struct TreeUsage {
  std::uint64_t processes = 0;  // alive, init and zombies not counted
  std::uint64_t threads = 0;    // of those
  // What RLIMIT_NPROC counts, init left out: threads, zombies, and what ended while we looked.
  std::uint64_t tasks = 0;
  std::uint64_t resident_bytes = 0;  // sum of resident sizes: shared pages count for each
  std::chrono::microseconds cpu{
      0};  // of those, of zombies, and of all that they and init waited for
};
[[nodiscard]] TreeUsage read_tree_usage(int proc);

// The sum of proportional sizes (smaps_rollup): exact, and slow. Falls back to
// the resident size where a process forbids to look.
[[nodiscard]] std::uint64_t read_tree_pss(int proc);

// All threads that live below init, itself left out, by the host's numbers: only such
// ones open a pidfd. They are found from parent to child in the host's /proc, so that
// what changes its parent meanwhile may be missed once.
[[nodiscard]] std::vector<pid_t> list_tree_threads(pid_t init);

}  // namespace wardcase::sandbox
