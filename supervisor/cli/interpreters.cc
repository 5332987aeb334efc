// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/interpreters.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "policies/language.h"
#include "supervisor/cli/ask_program.h"

namespace wardcase::supervisor {

namespace {

std::string find_on_path(std::string_view name, std::string_view path) {
  while (!path.empty()) {
    const std::string_view directory = path.substr(0, path.find(':'));
    path.remove_prefix(std::min(path.size(), directory.size() + 1));
    std::string candidate = std::string(directory) + "/" + std::string(name);
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

std::optional<std::string> ask_version(const std::string& path) {
  auto answer = ask_program({path, "--version"}, {});
  if (!answer || !answer->is_success || answer->line.empty()) return std::nullopt;
  return std::move(answer->line);
}

}  // namespace

std::vector<FoundInterpreter> find_interpreters(std::string_view path) {
  std::vector<FoundInterpreter> found;
  for (const policies::Language& language : policies::languages()) {
    FoundInterpreter interpreter = {language.name, "", std::nullopt};
    for (const std::string_view name : language.interpreters) {
      if (interpreter.path.empty()) interpreter.path = find_on_path(name, path);
    }
    if (!interpreter.path.empty()) interpreter.version = ask_version(interpreter.path);
    found.push_back(std::move(interpreter));
  }
  return found;
}

}  // namespace wardcase::supervisor
