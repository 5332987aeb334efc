// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "tests/bench/statistics.h"

#include <algorithm>
#include <utility>

namespace wardcase::bench {

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (values[above] - values[below]) * (place - static_cast<double>(below));
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

}  // namespace wardcase::bench
