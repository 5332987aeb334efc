// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/batch_request.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "supervisor/server/problem.h"
#include "tests/fuzz/fuzz_target.h"

using wardcase::fuzz::require;
using wardcase::supervisor::BatchCase;
using wardcase::supervisor::kMostCases;
using wardcase::supervisor::parse_batch_request;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto request = parse_batch_request({reinterpret_cast<const char*>(data), size});
  if (!request) {
    require(!request.error().detail.empty() && !request.error().code.empty(),
            "a refusal gives its reason");
    require(to_response(request.error()).status == request.error().status, "and can be told");
    return 0;
  }
  require(!request->cases.empty() && request->cases.size() <= kMostCases, "there are cases");
  require(request->program.code.has_value() != !request->program.argv.empty(),
          "there is one thing to run");
  for (const BatchCase& one : request->cases) {
    require(std::isfinite(one.comparison.absolute) && one.comparison.absolute >= 0 &&
                std::isfinite(one.comparison.relative) && one.comparison.relative >= 0,
            "a tolerance is a number");
    for (const auto& words : {one.arguments, one.environment}) {
      require(std::ranges::all_of(
                  words, [](const auto& word) { return word.find('\0') == std::string::npos; }),
              "no word is cut short by the kernel");
    }
  }
  return 0;
}
