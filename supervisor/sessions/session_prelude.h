// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <map>
#include <optional>
#include <string>

#include "sandbox/sys/error.h"
#include "supervisor/config/config.h"

namespace wardcase::supervisor {

// What each interpreter of a language runs before its first program.
struct SessionPrelude {
  std::string name;  // of the file, without a directory
  std::string code;
};

// Those of a session, by the languages' names: `file` (a host path, opened with the caller's
// rights) in the language that its suffix tells, or else in `default_language`; of the others what
// the policy has. Errors name the flag or the policy.
[[nodiscard]] sys::Result<std::map<std::string, SessionPrelude>> read_session_preludes(
    const std::optional<std::string>& file, const Configuration& configuration,
    const std::string& default_language);

}  // namespace wardcase::supervisor
