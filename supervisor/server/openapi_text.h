// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string_view>

namespace wardcase::supervisor {

// supervisor/server/openapi.json, compiled in (packaging/embed-openapi).
[[nodiscard]] std::string_view openapi_text();

}  // namespace wardcase::supervisor
