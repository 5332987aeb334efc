// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "sandbox/sys/error.h"
#include "tests/bench/running.h"
#include "tests/bench/timing.h"

namespace wardcase::bench {

// One program under one launcher, over all rounds.
struct Case {
  std::string program;
  std::string launcher;
  std::vector<double> wall_ms;  // of the rounds in which it succeeded
  std::vector<double> ratios;   // to the bare start of the same round
  int failures = 0;
};

struct Breakdown {
  std::string launcher;
  std::vector<Step> steps;
};

struct Results {
  int rounds = 0;
  std::vector<Case> cases;
  std::vector<Breakdown> breakdowns;  // of wardcase's own start
  std::vector<Running> running;
};

void print_table(std::ostream& out, const Results& results);

[[nodiscard]] sys::Status write_json(const std::string& path, const Results& results);

}  // namespace wardcase::bench
