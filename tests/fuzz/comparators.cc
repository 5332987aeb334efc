// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/comparators.h"

#include <algorithm>
#include <string>

#include "tests/fuzz/fuzz_target.h"

using wardcase::fuzz::require;
using wardcase::supervisor::Comparison;
using wardcase::supervisor::make_comparator;

namespace {

std::string compare(const Comparison& comparison, std::string_view expected,
                    std::string_view output, std::size_t piece) {
  const auto comparator = make_comparator(comparison, expected);
  for (std::size_t at = 0; at < output.size(); at += piece) {
    comparator->take(output.substr(at, piece));
  }
  return comparator->finish();
}

}  // namespace

// The first byte is the comparator and the size of pieces, and what is expected ends at a zero
// byte.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Comparison comparison = {static_cast<Comparison::Kind>(data[0] % 4), 1e-6, 1e-6};
  const std::size_t piece = 1 + data[0] / 4U;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string_view expected = text.substr(0, text.find('\0'));
  const std::string_view output = text.substr(std::min(text.size(), expected.size() + 1));
  const std::string said = compare(comparison, expected, output, piece);
  require(said == compare(comparison, expected, output, text.size() + 1),
          "however it comes in pieces, the same is said");
  require(said.size() < 1024, "it is short");
  require(compare(comparison, expected, expected, piece).empty(), "all is equal to itself");
  if (comparison.kind == Comparison::Kind::exact) {
    require(said.empty() == (expected == output), "exact is exact");
  }
  return 0;
}
