// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policies/language.h"
#include "policies/word_template.h"
#include "supervisor/languages/job.h"

namespace wardcase::supervisor {

// The first error in what a compiler or a checker wrote, by the patterns of its language. Place and
// text may come from two lines; a column, from a line of blanks with a ^ under the place. Where no
// pattern says anything: the first line that is not empty, as text. nullopt: nothing was written.
[[nodiscard]] std::optional<policies::SourceError> first_error(policies::Words patterns,
                                                               std::string_view written);

// "main.c:3:5: expected ';'", with what of it is known.
[[nodiscard]] std::string sentence_of(const policies::SourceError& error);

// Fills in error, error_message and, as hint, the line itself where `source` has it.
void tell_error(policies::SourceError error, std::string_view source_name, std::string_view source,
                PartFailure& failure);

}  // namespace wardcase::supervisor
