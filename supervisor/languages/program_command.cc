// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/program_command.h"

#include "policies/word_template.h"
#include "supervisor/languages/program_environment.h"

namespace wardcase::supervisor {

void fill_command(policies::Words command, const policies::Runner& runner,
                  const CommandPlaces& places, const policies::Limits& limits, RunSpec& spec) {
  std::vector<policies::Filling> fillings = limit_fillings(limits);
  fillings.push_back({"source", places.source});
  fillings.push_back({"output", places.output});
  fillings.push_back({"script", places.script});
  const bool has_own = places.interpreter.has_value();
  fillings.push_back(
      {"interpreter", has_own ? *places.interpreter : std::string(runner.interpreters.front())});
  spec.argv.clear();
  spec.program_names.clear();
  for (const std::string_view word : command) {
    auto filled = policies::fill_template(word, fillings);
    if (filled) spec.argv.push_back(*std::move(filled));
  }
  if (command.front() == "{interpreter}" && !has_own) {
    spec.program_names.assign(runner.interpreters.begin(), runner.interpreters.end());
  }
}

}  // namespace wardcase::supervisor
