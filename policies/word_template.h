// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace wardcase::policies {

// Texts with {placeholders}, whose names are lower-case letters and underscores. Any other brace
// stands for itself.

struct Filling {
  std::string_view name;             // "source"
  std::optional<std::string> value;  // nullopt: it has none
};

// The text with each placeholder replaced; nullopt where one has no value or is not among
// `fillings`.
[[nodiscard]] std::optional<std::string> fill_template(std::string_view text,
                                                       std::span<const Filling> fillings);

// The first placeholder that is none of `known`; "" if there is none.
[[nodiscard]] std::string_view unknown_placeholder(std::string_view text,
                                                   std::span<const std::string_view> known);

[[nodiscard]] bool has_placeholder(std::string_view text, std::string_view name);

// An error as a compiler tells it.
struct SourceError {
  std::string file;
  std::uint32_t line = 0;    // 0: not told
  std::uint32_t column = 0;  // counted from 1, 0: not told
  std::string text;
};

inline constexpr std::string_view kErrorParts[] = {"file", "line", "column", "text", "any"};

// What a line says by a pattern of the placeholders {file}, {line}, {column}, {text} and {any}:
// {line} and {column} are digits, the others whatever is least, at least one character; a
// pattern that ends in {text} takes the rest. nullopt: it is no such line. Of long lines the
// first 1,000 bytes are looked at.
[[nodiscard]] std::optional<SourceError> match_error(std::string_view pattern,
                                                     std::string_view line);

}  // namespace wardcase::policies
