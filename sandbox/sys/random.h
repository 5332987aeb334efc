// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/random.h>

#include <cstddef>
#include <cstdint>

namespace wardcase::sys {

// Fills at most 256 bytes, which getrandom(2) never cuts short; its pool is ready long before us.
// What fails in passing is tried again. False, with errno: this kernel gives none.
inline bool draw_random(void* bytes, std::size_t size) noexcept {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    if (::getrandom(bytes, size, 0) == static_cast<ssize_t>(size)) return true;
  }
  return false;
}

// Where any number will do, if need be the same for all.
inline std::uint32_t draw_number() noexcept {
  std::uint32_t number = 0;
  return draw_random(&number, sizeof number) ? number : 0;
}

}  // namespace wardcase::sys
