// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policies/language.h"
#include "sandbox/sys/error.h"
#include "supervisor/run/run_spec.h"
#include "supervisor/sessions/worker_messages.h"

namespace wardcase::supervisor {

// How a language's interpreter lives on in a session (policies::Language::worker).
struct LiveInterpreter {
  std::string programs;                // candidates on the box's PATH, with a newline between them
  std::vector<std::string> arguments;  // with which it becomes what speaks for it (agent/workers)
  std::string suffix;                  // of what its programs are called: ".py"
  Dialect dialect = Dialect::frames;   // in which it is spoken to
};

// nullopt: it can't.
[[nodiscard]] std::optional<LiveInterpreter> live_interpreter(const policies::Language& language);

// What a session's box starts with: the agent as its program, and all scripts.
inline constexpr std::string_view kAgentPath = "/run/wardcase/agent";
[[nodiscard]] sys::Status place_agent(RunSpec& spec);

}  // namespace wardcase::supervisor
