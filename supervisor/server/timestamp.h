// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <chrono>
#include <string>

namespace wardcase::supervisor {

// RFC 3339, in UTC, as "2026-01-02T03:04:05Z".
[[nodiscard]] std::string timestamp(std::chrono::system_clock::time_point when);

}  // namespace wardcase::supervisor
