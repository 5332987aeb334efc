// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "tests/bench/timing.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "tests/bench/statistics.h"

namespace wardcase::bench {

std::vector<Step> parse_timing(std::string_view text) {
  std::vector<Step> steps;
  std::map<std::string, double> last_of;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string prefix;
    Step step;
    double since_any = 0;
    if (!(words >> prefix >> step.at_us >> since_any >> step.who >> step.name)) continue;
    const auto last = last_of.find(step.who);
    step.took_us = last == last_of.end() ? since_any : step.at_us - last->second;
    last_of[step.who] = step.at_us;
    steps.push_back(step);
  }
  return steps;
}

std::vector<Step> median_steps(const std::vector<std::vector<Step>>& runs) {
  struct Seen {
    std::vector<double> at;
    std::vector<double> took;
  };
  std::map<std::pair<std::string, std::string>, Seen> seen;
  for (const std::vector<Step>& run : runs) {
    for (const Step& step : run) {
      Seen& one = seen[{step.who, step.name}];
      one.at.push_back(step.at_us);
      one.took.push_back(step.took_us);
    }
  }
  std::vector<Step> steps;
  for (const auto& [who_and_name, one] : seen) {
    steps.push_back({who_and_name.first, who_and_name.second, median(one.at), median(one.took)});
  }
  std::sort(steps.begin(), steps.end(),
            [](const Step& a, const Step& b) { return a.at_us < b.at_us; });
  return steps;
}

}  // namespace wardcase::bench
