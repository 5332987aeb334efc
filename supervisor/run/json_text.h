// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace wardcase::supervisor {

// `text`, which is valid UTF-8, as a JSON string with its quotes.
[[nodiscard]] std::string json_string(std::string_view text);

// Padded, without line breaks (RFC 4648, section 4).
[[nodiscard]] std::string base64(std::string_view bytes);

// The other way; nullopt for what base64() would not have written.
[[nodiscard]] std::optional<std::string> decode_base64(std::string_view text);

}  // namespace wardcase::supervisor
