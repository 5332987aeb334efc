// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>
#include <string_view>

#include "policies/language.h"

namespace wardcase::supervisor {

// The first of `names` that is a program in one of the directories of `path` (with colons between
// them; names with a slash are paths), as the host has it; "" where there is none.
[[nodiscard]] std::string find_on_path(policies::Words names, std::string_view path);

// Of several ways to run a language the first whose interpreter is on the box's PATH; else the
// first.
[[nodiscard]] const policies::Runner& choose_runner(const policies::Language& language);

}  // namespace wardcase::supervisor
