// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string_view>

#include "policies/language.h"

namespace wardcase::policies {

// What a piece of code without a file is called: the language's usual name, or that of its
// variant where the code looks like one.
[[nodiscard]] std::string_view snippet_name(const Language& language, std::string_view code);

}  // namespace wardcase::policies
