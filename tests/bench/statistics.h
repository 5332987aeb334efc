// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <vector>

namespace wardcase::bench {

// The value below which `share` (0 to 1) of the values lie, between two neighbours
// in proportion; 0 of no values.
[[nodiscard]] double quantile(std::vector<double> values, double share);

[[nodiscard]] double median(std::vector<double> values);

}  // namespace wardcase::bench
