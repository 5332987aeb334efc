// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "policies/policy_entry.h"
#include "sandbox/sys/error.h"

namespace wardcase::policies {

// [deny_code]: NAME = "PATTERN", or NAME = { pattern = ..., languages = [...], why = ... }.
[[nodiscard]] sys::Status read_denied_code(const Entry& entry);

// The line of `code` in which the regular expression (RE2's syntax; ^ and $ stand for the ends of
// lines) is found first. Takes time in proportion to the code, whatever both are; bytes that are
// no UTF-8 are characters of their own. nullopt: nowhere.
[[nodiscard]] std::optional<std::uint32_t> find_code(const std::string& pattern,
                                                     std::string_view code);

}  // namespace wardcase::policies
