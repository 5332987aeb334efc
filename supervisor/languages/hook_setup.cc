// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/hook_setup.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "sandbox/sys/files.h"
#include "supervisor/languages/program_environment.h"
#include "supervisor/languages/program_file.h"
#include "supervisor/languages/python_starters.h"
#include "supervisor/run/json_text.h"

namespace wardcase::supervisor {
namespace {

namespace fs = std::filesystem;

const std::string kPreludeDirectory = std::string(kHookDirectory) + "/prelude/";

sys::Status place_text(const std::string& name, std::string_view text, RunSpec& program) {
  auto content = text_in_memory(text);
  if (!content) return tl::unexpected(std::move(content).error());
  program.files.push_back({std::string(kHookDirectory) + "/" + name, *std::move(content), 0644});
  return {};
}

sys::Status place_files(std::span<const std::string_view> names, RunSpec& program) {
  for (const std::string_view name : names) {
    if (auto placed = place_text(std::string(name), hook_text(name), program); !placed)
      return placed;
  }
  return {};
}

// The variable's value, if it is set.
std::optional<std::string> value_of(std::string_view name, const RunSpec& program) {
  const std::string start = std::string(name) + "=";
  const auto found = std::ranges::find_if(program.environment, [&](const std::string& variable) {
    return variable.starts_with(start);
  });
  if (found == program.environment.end()) return std::nullopt;
  return found->substr(start.size());
}

// What the interpreter is called once its links are followed: "python3.11". On the box's PATH
// are directories of the host.
std::string real_name(const RunSpec& program) {
  const std::string& name =
      program.program_names.empty() ? program.argv.front() : program.program_names.front();
  std::string_view path = kBoxPath;
  while (!path.empty()) {
    const std::string_view directory = path.substr(0, path.find(':'));
    path.remove_prefix(std::min(path.size(), directory.size() + 1));
    std::error_code error;
    // An absolute name stands for itself.
    const fs::path real = fs::canonical(fs::path(directory) / name, error);
    if (!error) return real.filename().string();
  }
  return "";
}

// Where it fits no Python, or another than the one that is started, the hook is compiled as any
// module is.
sys::Status place_starter(RunSpec& program) {
  std::string tag = real_name(program);
  constexpr std::string_view kName = "python3.";
  if (!tag.starts_with(kName)) return {};
  tag = "cpython-3" + tag.substr(kName.size());
  const auto starters = python_starters();
  const auto found = std::ranges::find(starters, tag, &PythonStarter::tag);
  if (found == starters.end()) return {};
  return place_text("__pycache__/sitecustomize." + tag + ".pyc",
                    decode_base64(found->data).value_or(""), program);
}

}  // namespace

sys::Status set_up_hook(const InterpreterHook& hook, RunSpec& program) {
  if (auto placed = place_files(hook.files, program); !placed) return placed;
  program.argv.insert(program.argv.begin() + 1, hook.arguments.begin(), hook.arguments.end());
  if (hook.search_path.empty()) return {};
  std::string directories(kHookDirectory);
  if (const auto own = value_of(hook.search_path, program); own && !own->empty()) {
    directories += ":" + *own;
  }
  set_variable(program.environment, std::string(hook.search_path) + "=" + directories);
  return place_starter(program);
}

sys::Status set_up_prelude(const InterpreterHook& hook, Prelude prelude, RunSpec& program) {
  if (auto placed = place_files(hook.prelude_files, program); !placed) return placed;
  const std::string path = kPreludeDirectory + prelude.name;
  program.files.push_back({path, std::move(prelude.content), 0644});
  set_variable(program.environment, std::string(kPreludeVariable) + "=" + path);
  if (hook.start_file.empty()) return {};
  const std::string name(hook.start_file);
  if (const auto own = value_of(name, program)) {
    set_variable(program.environment, "WARDCASE_" + name + "=" + *own);
  }
  set_variable(program.environment, name + "=" + std::string(kHookDirectory) + "/" +
                                        std::string(hook.prelude_files.front()));
  return {};
}

}  // namespace wardcase::supervisor
