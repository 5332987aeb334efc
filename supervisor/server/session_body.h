// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "supervisor/server/problem.h"
#include "supervisor/server/request_field.h"
#include "supervisor/server/run_request.h"

namespace wardcase::supervisor {

// The smaller bodies below /v1/sessions. Errors as parse_run_request().

// {"ttl_ms": N}
[[nodiscard]] tl::expected<std::chrono::milliseconds, Problem> parse_extension(
    std::string_view body);

// {"data": TEXT} or {"data_base64": ...}, {"eof": true}, or both.
struct SessionInput {
  std::string data;
  bool is_last = false;
};
[[nodiscard]] tl::expected<SessionInput, Problem> parse_input(std::string_view body);

// Of a program only what is its own may be limited: the box is the session's.
[[nodiscard]] Read check_program_limits(const RunRequest& request);

}  // namespace wardcase::supervisor
