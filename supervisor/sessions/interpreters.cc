// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/sessions/interpreters.h"

#include <algorithm>
#include <utility>

#include "supervisor/agent/worker_texts.h"
#include "supervisor/config/installed.h"
#include "supervisor/languages/program_file.h"

namespace wardcase::supervisor {

namespace {

constexpr LiveInterpreter kInterpreters[] = {
    {"python", "python3\npython", "python_worker.py", ".py"},
    {"javascript", "node\nnodejs", "node_worker.cjs", ".js"},
    {"bash", "bash", "bash_worker.sh", ".sh"},
};

}  // namespace

const LiveInterpreter* live_interpreter(std::string_view language) {
  const auto* const found = std::ranges::find(kInterpreters, language, &LiveInterpreter::language);
  return found == std::end(kInterpreters) ? nullptr : found;
}

std::string script_path(const LiveInterpreter& interpreter) {
  return "/run/wardcase/" + std::string(interpreter.script);
}

sys::Status place_agent(RunSpec& spec) {
  const auto agent = find_installed("wardcase-agent");
  if (!agent) return tl::unexpected(agent.error());
  auto program = open_program(*agent);
  if (!program) return tl::unexpected(std::move(program).error().while_doing("open the agent"));
  spec.argv = {std::string(kAgentPath)};
  spec.files.push_back({std::string(kAgentPath), *std::move(program), 0755});
  for (const LiveInterpreter& interpreter : kInterpreters) {
    auto script = text_in_memory(agent::worker_text(interpreter.script));
    if (!script) return tl::unexpected(std::move(script).error());
    spec.files.push_back({script_path(interpreter), *std::move(script), 0644});
  }
  return {};
}

}  // namespace wardcase::supervisor
