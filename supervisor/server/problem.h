// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>
#include <string_view>

#include "supervisor/server/http_codec.h"

namespace wardcase::supervisor {

// Why a request is not answered as asked (RFC 9457).
struct Problem {
  int status = 400;
  std::string code;             // one of a closed list, for programs: "unknown_field"
  std::string detail;           // one sentence, for people: what is wrong, and what to write
  std::string field = "";       // of the request's body: "limits.timeout_ms"
  int retry_after_seconds = 0;  // not 0: the same request may do better then
};

[[nodiscard]] HttpResponse to_response(const Problem& problem);

// "Bad Request" of 400.
[[nodiscard]] std::string_view status_title(int status);

}  // namespace wardcase::supervisor
