// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstddef>
#include <string_view>

namespace wardcase::supervisor {

// As many bytes of a file's beginning as media_type_of looks at.
inline constexpr std::size_t kMediaTypeBytes = 512;

// The media type of a file, as "image/png": images and PDF by what the file begins with and by
// nothing else, so that none is called one that it is not; others by the suffix of `name`.
// "application/octet-stream" where neither tells.
[[nodiscard]] std::string_view media_type_of(std::string_view name, std::string_view beginning);

}  // namespace wardcase::supervisor
