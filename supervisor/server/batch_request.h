// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "supervisor/server/comparators.h"
#include "supervisor/server/problem.h"
#include "supervisor/server/run_request.h"

namespace wardcase::supervisor {

inline constexpr std::size_t kMostCases = 10'000;

// One run of a batch's program, and what is expected of it.
struct BatchCase {
  std::optional<std::string> input;
  std::vector<std::string> arguments;    // after the program's own
  std::vector<std::string> environment;  // "NAME=VALUE", in place of the program's own
  std::vector<RunRequest::File> files;
  std::optional<std::string> expected;  // of its output; without, and without a checker, it passes
                                        // by exiting with 0
  Comparison comparison;
};

// The body of POST /v1/batches, understood as far as that needs neither host nor policy.
struct BatchRequest {
  RunRequest program;                // without its input; its code with what tests it
  std::optional<std::string> input;  // of cases that have none of their own
  std::vector<BatchCase> cases;
  std::optional<RunRequest> checker;
  bool is_tested_by_code = false;  // one case, which fails by another exit code than 0
  bool stops_early = false;        // nothing counts after the first case that has failed
  bool is_detached = false;
  std::optional<std::chrono::milliseconds> deadline;
};

// Errors name the field, what is wrong with it and what to write.
[[nodiscard]] tl::expected<BatchRequest, Problem> parse_batch_request(std::string_view body);

// Memory that the request takes until the end of its batch.
[[nodiscard]] std::uint64_t held_bytes(const BatchRequest& request);

}  // namespace wardcase::supervisor
