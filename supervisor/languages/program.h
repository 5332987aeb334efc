// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "supervisor/config/config.h"
#include "supervisor/languages/job.h"
#include "supervisor/languages/prelude.h"
#include "supervisor/languages/requirement_source.h"
#include "supervisor/run/run_record.h"

namespace wardcase::supervisor {

// Whether a program's syntax is looked at, without executing any of it.
enum class Validation : std::uint8_t {
  none,
  first,  // before it runs, which it only does if that is right
  alone,  // and it does not run
};

// What the caller wants to be run.
struct ProgramSource {
  enum class Kind : std::uint8_t {
    file,            // `text` is a host path, opened with the caller's rights
    code,            // `text` is the program itself
    standard_input,  // the program is what our stdin holds
    command,         // `arguments` is the whole command, looked for in the box
  };
  Kind kind = Kind::file;
  std::string text;
  std::vector<std::string> arguments;
  std::optional<std::string> language;     // name or alias; code and standard_input need one
  std::optional<std::string> interpreter;  // its path in the box, in place of the language's own
  RequirementSource requirements;
  std::optional<std::string> prelude;       // a host path, opened with the caller's rights
  std::optional<std::string> prelude_text;  // or the prelude itself
  Validation validation = Validation::none;
};

// Why nothing can be run, as the record has it.
struct ProgramFailure {
  RunStatus status;              // cannot_execute, invalid_request or setup_failed
  std::optional<int> exit_code;  // cannot_execute: 126 or 127
  std::string error;             // one sentence
  int code = 0;                  // errno of setup_failed
  std::optional<std::string> error_type = std::nullopt;
  std::string hint = {};  // one next step, or ""

  // What a refused job has to tell; the limits are as they were asked for.
  [[nodiscard]] RunRecord record(const RunSpec& spec) const;
};

// Shows what languages want of /etc; as with the environment, of all of them.
[[nodiscard]] tl::expected<void, ProgramFailure> show_etc(const policies::LanguageSet& languages,
                                                          RunSpec& spec);

// Fills in what `job` runs: the parts that its language and `source` ask for, and in its spec
// language, argv, files, environment, and the read-only mounts that languages need. `spec.mounts`,
// `spec.limits`, `spec.capture`, `spec.terminal` and what the policy says (RunSpec::take_policy)
// must be set before; a mount at /box is the workspace: a file that lies in it runs in place, any
// other is put beside it. `variables` ("NAME=VALUE") win over the standard ones. `host_cpus`: what
// this process may run on. The program's bytes travel in descriptors, never in argv.
[[nodiscard]] tl::expected<void, ProgramFailure> fill_program(
    const ProgramSource& source, const Configuration& configuration,
    const std::vector<std::string>& variables, unsigned host_cpus, Job& job);

}  // namespace wardcase::supervisor
