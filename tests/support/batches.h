// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/serving.h"

namespace wardcase::test {

// The body of a batch; `more` is JSON between its braces, behind the program.
[[nodiscard]] std::string batch_of(const std::string& program, const std::string& more);

// What a POST of this body to /v1/batches looks like.
[[nodiscard]] std::string batch_request(std::string_view body, std::string_view more_headers = "");

// The batch at its end, by a client of its own.
[[nodiscard]] Record run_batch(const Service& service, const std::string& body);

// Of each case; that they stand in their order is an expectation.
using Verdicts = std::vector<std::string>;
[[nodiscard]] Verdicts verdicts_of(const Record& batch);

}  // namespace wardcase::test
