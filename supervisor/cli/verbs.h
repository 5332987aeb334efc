// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/cli/options.h"

namespace wardcase::supervisor {

// What `wardcase` can do. Dispatching, the overview and completions come from this table.
struct Verb {
  std::string_view name;
  std::string_view help;
  std::vector<std::string_view> words;  // one of which has to follow; none: nothing has to
  std::vector<OptionRow> (*options)();
  // The operands, from the first on, are a program and its own words, among which no
  // option is ours.
  bool runs_program = false;
  bool takes_policy = false;  // behind its word
};
[[nodiscard]] std::span<const Verb> verb_table();

// "run, policy, config, ...".
[[nodiscard]] std::string verb_names(std::string_view separator);

}  // namespace wardcase::supervisor
