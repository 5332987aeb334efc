// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string_view>

#include "policies/language_store.h"
#include "sandbox/sys/error.h"

namespace wardcase::policies {

// Text in TOML -> the language that it describes; `file` is its name in origins and errors, and
// `name` what it is called after: NAME.toml. Refuses what it does not know and what it can't
// read, with place, key, value and what is accepted.
[[nodiscard]] sys::Result<ReadLanguage> read_language(std::string_view text, std::string_view file,
                                                      std::string_view name);

}  // namespace wardcase::policies
