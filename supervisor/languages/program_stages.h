// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/types.h>

#include <string>

#include "policies/language.h"
#include "sandbox/sys/unique_fd.h"
#include "supervisor/languages/program.h"

// How a program's file comes to be what a run executes: by itself, by an interpreter, or by way
// of a compiler or a check.
namespace wardcase::supervisor {

// A program of a language, on its way into a box.
struct Placing {
  const ProgramSource& source;
  const Configuration& configuration;
  const policies::Limits& limits;  // resolved
  unsigned host_cpus;
  std::string name;  // of the file
  sys::UniqueFd content;
};

// Raises defaults of limits that are below what the language needs, and has the system calls that
// it needs let through, as far as the policy lets them.
[[nodiscard]] tl::expected<void, ProgramFailure> meet_needs(const policies::Language& language,
                                                            RunSpec& spec);

// Fills in the parts of `job` and what its spec executes, all but the program's own arguments.
[[nodiscard]] tl::expected<void, ProgramFailure> fill_language(Placing placing,
                                                               const policies::Language& language,
                                                               Job& job);

// The program's file in the box: the path it has there. Puts it there unless the workspace shows
// it already.
[[nodiscard]] std::string place_program(const ProgramSource& source, const std::string& name,
                                        mode_t mode, sys::UniqueFd content, RunSpec& spec);

}  // namespace wardcase::supervisor
