// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wardcase::bench {

// One line of --timing. `took` is the time since the step before it of the same
// process: the processes work at the same time.
struct Step {
  std::string who;
  std::string name;
  double at_us = 0;
  double took_us = 0;
};

// Reads what `wardcase run --timing` writes to stderr.
[[nodiscard]] std::vector<Step> parse_timing(std::string_view text);

// The medians of each step over many runs, in the order of a run.
[[nodiscard]] std::vector<Step> median_steps(const std::vector<std::vector<Step>>& runs);

}  // namespace wardcase::bench
