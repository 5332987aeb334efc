// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <vector>

namespace wardcase::sandbox {

// What the processes of a box use, read from the host's /proc: for hosts where
// no control group counts. Everything in the box descends from init.
struct TreeUsage {
  std::uint64_t processes = 0;       // alive below init, zombies not counted
  std::uint64_t threads = 0;         // of those
  std::uint64_t zombies = 0;         // dead and not yet waited for: RLIMIT_NPROC counts them, too
  std::uint64_t resident_bytes = 0;  // sum of resident sizes: shared pages count for each
  std::chrono::microseconds cpu{
      0};  // of those, of zombies, and of all that they and init waited for
};
[[nodiscard]] TreeUsage read_tree_usage(pid_t init);

// All threads that live below init, itself left out.
[[nodiscard]] std::vector<pid_t> list_tree_threads(pid_t init);

// The sum of proportional sizes (smaps_rollup): exact, and slow. Falls back to
// the resident size where a process forbids to look.
[[nodiscard]] std::uint64_t read_tree_pss(pid_t init);

}  // namespace wardcase::sandbox
