// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "sandbox/sys/error.h"

namespace wardcase::policies {

// Text to numbers and back, for every door. All parsers refuse an empty text,
// signs, 0, blanks, unknown suffixes and values that do not fit; the error says
// what was read and what is accepted (`'10x': not a time; write 500ms, 10s or 2m`).

// `500ms`, `10s`, `2m`, `1h`; a bare number is seconds; fractions as in `1.5s`.
[[nodiscard]] sys::Result<std::chrono::milliseconds> parse_duration(std::string_view text);

// `64m`, `64M`, `64MB`, `64MiB`, `1g`; a bare number is bytes; k, m, g are powers of 1024.
[[nodiscard]] sys::Result<std::uint64_t> parse_size(std::string_view text);

// A whole number above 0.
[[nodiscard]] sys::Result<std::uint64_t> parse_count(std::string_view text);

// `2`, `0.5`: thousandths of a processor, at least 10 (0.01).
[[nodiscard]] sys::Result<std::uint64_t> parse_millicpus(std::string_view text);

[[nodiscard]] std::string format_duration(
    std::chrono::milliseconds value);                        // 1.50 s -> "1.5s", "60s", "500ms"
[[nodiscard]] std::string format_size(std::uint64_t bytes);  // "64 MiB", "1.5 GiB", "100 bytes"
[[nodiscard]] std::string format_millicpus(std::uint64_t millicpus);  // "1.5", "2"

}  // namespace wardcase::policies
