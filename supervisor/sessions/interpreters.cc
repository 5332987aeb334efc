// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/sessions/interpreters.h"

#include <algorithm>
#include <utility>

#include "supervisor/agent/worker_texts.h"
#include "supervisor/config/installed.h"
#include "supervisor/languages/interpreter_hook.h"
#include "supervisor/languages/program_file.h"

namespace wardcase::supervisor {

namespace {

struct Script {
  std::string_view worker;
  std::string_view file;
};
constexpr Script kScripts[] = {
    {"python", agent::kPythonWorker}, {"node", agent::kNodeWorker}, {"bash", agent::kBashWorker}};

constexpr std::string_view kFigures = "figures.py";  // which the worker of Python looks for

std::string path_of(const Script& script) {
  return std::string(agent::kWorkerDirectory) + "/" + std::string(script.file);
}

// Bash would call its programs by a script's name, if it had been given one.
std::vector<std::string> arguments_of(const Script& script) {
  if (script.file != agent::kBashWorker) return {path_of(script)};
  return {"--norc", "--noprofile", "-c", std::string(agent::kBashBootstrap), "bash"};
}

}  // namespace

std::optional<LiveInterpreter> live_interpreter(const policies::Language& language) {
  const auto* const script = std::ranges::find(kScripts, language.worker, &Script::worker);
  if (script == std::end(kScripts)) return std::nullopt;
  LiveInterpreter interpreter = {
      .programs = "",
      .arguments = arguments_of(*script),
      .suffix = std::string(language.suffixes.front()),
      .dialect = script->file == agent::kBashWorker ? Dialect::lines : Dialect::frames};
  for (const std::string_view program : language.runners.front().interpreters) {
    if (!interpreter.programs.empty()) interpreter.programs += '\n';
    interpreter.programs += program;
  }
  return interpreter;
}

sys::Status place_agent(RunSpec& spec) {
  const auto agent = find_installed("wardcase-agent");
  if (!agent) return tl::unexpected(agent.error());
  auto program = open_program(*agent);
  if (!program) return tl::unexpected(std::move(program).error().while_doing("open the agent"));
  spec.argv = {std::string(kAgentPath)};
  spec.files.push_back({std::string(kAgentPath), *std::move(program), 0755});
  for (const Script& script : kScripts) {
    auto text = text_in_memory(agent::worker_text(script.file));
    if (!text) return tl::unexpected(std::move(text).error());
    spec.files.push_back({path_of(script), *std::move(text), 0644});
  }
  auto figures = text_in_memory(hook_text(kFigures));
  if (!figures) return tl::unexpected(std::move(figures).error());
  spec.files.push_back(
      {std::string(kHookDirectory) + "/" + std::string(kFigures), *std::move(figures), 0644});
  return {};
}

}  // namespace wardcase::supervisor
