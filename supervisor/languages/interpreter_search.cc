// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/interpreter_search.h"

#include <unistd.h>

#include <algorithm>

#include "supervisor/run/run_spec.h"

namespace wardcase::supervisor {
namespace {

bool is_program(const std::string& path) { return ::access(path.c_str(), X_OK) == 0; }

std::string find_one(std::string_view name, std::string_view path) {
  if (name.find('/') != std::string_view::npos) {
    return is_program(std::string(name)) ? std::string(name) : "";
  }
  while (!path.empty()) {
    const std::string_view directory = path.substr(0, path.find(':'));
    path.remove_prefix(std::min(path.size(), directory.size() + 1));
    std::string candidate = std::string(directory) + "/" + std::string(name);
    if (is_program(candidate)) return candidate;
  }
  return "";
}

}  // namespace

std::string find_on_path(policies::Words names, std::string_view path) {
  for (const std::string_view name : names) {
    if (std::string found = find_one(name, path); !found.empty()) return found;
  }
  return "";
}

const policies::Runner& choose_runner(const policies::Language& language) {
  const auto& runners = language.runners;
  if (runners.size() == 1) return runners.front();
  const auto found = std::ranges::find_if(runners, [](const policies::Runner& runner) {
    return !find_on_path(runner.interpreters, kBoxPath).empty();
  });
  return found == runners.end() ? runners.front() : *found;
}

}  // namespace wardcase::supervisor
