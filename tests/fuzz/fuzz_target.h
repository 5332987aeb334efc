// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

// What libFuzzer, and the replay of a corpus, call with each input.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace wardcase::fuzz {

// Ends the process where an input breaks what the code under test promises.
inline void require(bool holds, const char* promise) {
  if (holds) return;
  (void)std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

}  // namespace wardcase::fuzz
