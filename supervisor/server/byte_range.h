// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace wardcase::supervisor {

// What a Range header (RFC 9110, section 14) asks for of so many bytes.
struct ByteRange {
  enum class Kind : std::uint8_t { whole, part, unsatisfiable };
  Kind kind = Kind::whole;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

// One range is understood; several, other units and what makes no sense are the whole, as is
// allowed.
[[nodiscard]] ByteRange parse_range(std::string_view header, std::uint64_t size);

// Whether If-None-Match names this tag, or is *.
[[nodiscard]] bool names_tag(std::string_view header, const std::string& tag);

}  // namespace wardcase::supervisor
