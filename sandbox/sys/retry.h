// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cerrno>

namespace wardcase::sys {

// Calls again while a signal interrupted it (signal(7)). Never for close(2).
template <typename Call>
auto retry_eintr(Call call) noexcept {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace wardcase::sys
