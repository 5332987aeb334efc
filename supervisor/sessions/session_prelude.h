// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <map>
#include <string>

#include "sandbox/sys/error.h"
#include "supervisor/config/config.h"
#include "supervisor/languages/program.h"

namespace wardcase::supervisor {

// What each interpreter of a language runs before its first program.
struct SessionPrelude {
  std::string name;  // of the file, without a directory
  std::string code;
};

// Those of a session, by the languages' names: the one that `asked` names (a host path, opened with
// the caller's rights, or the text itself) in the language that the path's suffix tells, or else in
// `default_language`; of the others what the policy has. Errors name the flag or the policy.
[[nodiscard]] sys::Result<std::map<std::string, SessionPrelude>> read_session_preludes(
    const ProgramSource& asked, const Configuration& configuration,
    const std::string& default_language);

}  // namespace wardcase::supervisor
