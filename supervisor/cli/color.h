// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "supervisor/cli/options.h"

namespace wardcase::supervisor {

// --color
enum class ColorChoice : std::uint8_t { automatic, always, never };
[[nodiscard]] OptionRow color_option(std::string_view group);
[[nodiscard]] sys::Result<ColorChoice> color_of(const CommandLine& line);

// Whether what is written to `fd` is to have colors. automatic: where it is a terminal that
// knows them, and NO_COLOR is not set.
[[nodiscard]] bool has_color(ColorChoice choice, int fd);

// What words are about, which is what their color says.
enum class Tone : std::uint8_t { plain, good, doubtful, bad, hint };
// The text in its color, and whatever comes behind it in the usual one.
[[nodiscard]] std::string painted(std::string_view text, Tone tone);

}  // namespace wardcase::supervisor
