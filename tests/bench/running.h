// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>
#include <vector>

#include "tests/bench/launchers.h"

namespace wardcase::bench {

// What a launcher costs while its program runs, and at the end.
struct Running {
  std::string launcher;
  std::vector<double> stream_mib_per_s;
  std::vector<double> stream_ratios;  // of the speed to the bare reader's in the same round
  // From the program's last word to the launcher's end, the tree being one process or 65.
  std::vector<double> end_alone_ms;
  std::vector<double> end_with_others_ms;
};

// A GiB through a pipe; and of wardcase, which alone ends what a program leaves, the ends with
// and without 64 processes in sessions of their own.
[[nodiscard]] sys::Result<std::vector<Running>> measure_running(
    const std::vector<Launcher>& launchers, int rounds);

}  // namespace wardcase::bench
