// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>
#include <string_view>

#include "sandbox/sys/error.h"
#include "supervisor/run/run_spec.h"

namespace wardcase::supervisor {

// A language whose interpreter can live on in a session, and the script that speaks for it
// (agent/workers).
struct LiveInterpreter {
  std::string_view language;
  std::string_view programs;  // candidates on the box's PATH, with a newline between them
  std::string_view script;
  std::string_view suffix;  // of what its programs are called: ".py"
};

// nullptr: there is none for it.
[[nodiscard]] const LiveInterpreter* live_interpreter(std::string_view language);

// Where its script is in the box.
[[nodiscard]] std::string script_path(const LiveInterpreter& interpreter);

// What a session's box starts with: the agent as its program, and all scripts.
inline constexpr std::string_view kAgentPath = "/run/wardcase/agent";
[[nodiscard]] sys::Status place_agent(RunSpec& spec);

}  // namespace wardcase::supervisor
