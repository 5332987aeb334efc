// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "policies/spelling.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace wardcase::policies {
namespace {

// Letters to insert, drop or replace (Levenshtein).
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string did_you_mean(std::string_view written, std::span<const std::string_view> known) {
  constexpr std::size_t kLongest = 100;  // what is longer is no slip of the finger
  if (written.size() > kLongest || known.empty()) return "";
  const auto nearest = std::ranges::min_element(
      known, {}, [&](std::string_view candidate) { return distance(written, candidate); });
  const std::size_t slips = distance(written, *nearest);
  if (slips > 2 || slips >= nearest->size()) return "";
  return "; did you mean '" + std::string(*nearest) + "'?";
}

}  // namespace wardcase::policies
