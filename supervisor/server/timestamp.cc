// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/timestamp.h"

#include <array>
#include <ctime>

namespace wardcase::supervisor {

std::string timestamp(std::chrono::system_clock::time_point when) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(when);
  std::tm parts = {};
  (void)::gmtime_r(&seconds, &parts);  // fails beyond the year 2^31
  std::array<char, sizeof "2026-01-02T03:04:05Z"> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), size};
}

}  // namespace wardcase::supervisor
