// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <optional>
#include <string_view>

#include "policies/language.h"
#include "policies/policy.h"
#include "supervisor/languages/program.h"

namespace wardcase::supervisor {

// Why the policy's [deny_code] refuses this code, before anything of it runs; nullopt: it does
// not. `language`: nullptr for a command. A courtesy to who did not mean it, no boundary: the same
// can be written in endless ways.
[[nodiscard]] std::optional<ProgramFailure> refuse_code(const policies::Policy& policy,
                                                        const policies::Language* language,
                                                        std::string_view code);

}  // namespace wardcase::supervisor
