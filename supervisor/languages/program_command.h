// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policies/language.h"
#include "policies/limits.h"
#include "supervisor/run/run_spec.h"

namespace wardcase::supervisor {

// What the placeholders of a command stand for, besides limits.
struct CommandPlaces {
  std::optional<std::string> interpreter;  // the caller's own; else the runner's candidates
  std::optional<std::string> source;
  std::optional<std::string> output;
  std::optional<std::string> script;
};

// `command` as argv (and names to look for) of `spec`. `limits`: resolved; a word about a limit
// that there is not is left out.
void fill_command(policies::Words command, const policies::Runner& runner,
                  const CommandPlaces& places, const policies::Limits& limits, RunSpec& spec);

}  // namespace wardcase::supervisor
