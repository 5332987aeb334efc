// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "policies/language.h"
#include "sandbox/sys/unique_fd.h"
#include "supervisor/config/config.h"

namespace wardcase::supervisor {

struct ProgramFailure;
struct ProgramSource;

// What is run before a program by its own interpreter.
struct Prelude {
  std::string name;  // of the file, without a directory
  sys::UniqueFd content;
};

// Opens the prelude that `source` asks for, or else the policy's for `language` (nullptr: it has
// none), with the caller's rights; nothing where there is none. Refused: one that was asked for
// and that programs of this kind can't have, and a file that can't be had.
[[nodiscard]] tl::expected<std::optional<Prelude>, ProgramFailure> open_prelude(
    const ProgramSource& source, const Configuration& configuration,
    const policies::Language* language);

}  // namespace wardcase::supervisor
