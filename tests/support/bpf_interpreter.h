// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstdint>
#include <optional>
#include <span>

namespace wardcase::test {

// What a seccomp program answers to a call, worked out as the kernel would.
// nullopt: the program is broken (an instruction that seccomp does not take, a
// jump or a load outside, no end).
[[nodiscard]] std::optional<std::uint32_t> run_filter(std::span<const sock_filter> program,
                                                      const seccomp_data& call);

}  // namespace wardcase::test
