// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/program_environment.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <unordered_map>

#include "supervisor/run/run_spec.h"

namespace wardcase::supervisor {

namespace {

constexpr std::string_view kFixed[] = {
    "USER=user", "LOGNAME=user", "SHELL=/bin/bash", "LANG=C.UTF-8", "TMPDIR=/tmp", "TERM=dumb",
};

// The search for leaks at the end of a program built with sanitizers is a debugger's (ptrace),
// and a program that asks for it in vain fails.
constexpr std::string_view kNoLeakSearch[] = {"ASAN_OPTIONS=detect_leaks=0",
                                              "LSAN_OPTIONS=detect_leaks=0"};

// Against pagers and questions: nobody is there to press a key.
constexpr std::string_view kUnattended[] = {
    "PAGER=cat", "GIT_PAGER=cat", "CI=1", "DEBIAN_FRONTEND=noninteractive", "npm_config_yes=true",
};

// A heap of the limit's own size would be killed before the collector sees a
// reason to work; the quarter is for all that is not heap.
std::uint64_t heap_mebibytes(std::uint64_t memory_bytes) {
  return std::max<std::uint64_t>(1, memory_bytes / 4 * 3 >> 20);
}

std::string_view name_of(std::string_view variable) {
  return variable.substr(0, variable.find('=') + 1);
}

}  // namespace

void set_variables(std::vector<std::string>& environment, std::span<const std::string> variables) {
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < environment.size(); ++i) places.emplace(name_of(environment[i]), i);
  for (const std::string& variable : variables) {
    const auto [place, is_new] = places.emplace(name_of(variable), environment.size());
    if (is_new) {
      environment.push_back(variable);
    } else {
      environment[place->second] = variable;
    }
  }
}

void set_variable(std::vector<std::string>& environment, std::string_view variable) {
  const std::string_view name = name_of(variable);
  const auto found = std::ranges::find_if(
      environment, [&](const std::string& other) { return other.starts_with(name); });
  if (found == environment.end()) {
    environment.emplace_back(variable);
  } else {
    *found = variable;
  }
}

std::vector<policies::Filling> limit_fillings(const policies::Limits& limits) {
  std::vector<policies::Filling> fillings = {{"memory_bytes", std::nullopt},
                                             {"memory_mib", std::nullopt},
                                             {"heap_mib", std::nullopt},
                                             {"cpus", std::nullopt}};
  if (const auto memory = limits.get(policies::LimitId::memory)) {
    fillings[0].value = std::to_string(*memory);
    fillings[1].value = std::to_string(std::max<std::uint64_t>(1, *memory >> 20));
    fillings[2].value = std::to_string(heap_mebibytes(*memory));
  }
  if (const auto millicpus = limits.get(policies::LimitId::cpus)) {
    fillings[3].value = std::to_string((*millicpus + 999) / 1000);
  }
  return fillings;
}

std::vector<std::string> standard_environment(const policies::Limits& limits,
                                              std::span<const policies::Language> languages,
                                              Audience audience) {
  std::vector<std::string> environment = {"PATH=" + std::string(kBoxPath),
                                          "HOME=" + std::string(kBoxHome)};
  environment.insert(environment.end(), std::begin(kFixed), std::end(kFixed));
  environment.insert(environment.end(), std::begin(kNoLeakSearch), std::end(kNoLeakSearch));
  if (audience == Audience::nobody) {
    environment.insert(environment.end(), std::begin(kUnattended), std::end(kUnattended));
  }
  const auto fillings = limit_fillings(limits);
  // Of all languages, whatever the program is: those that it starts itself
  // have to stream their output, too.
  for (const policies::Language& language : languages) {
    for (const std::string_view variable : language.environment) {
      const auto filled = policies::fill_template(variable, fillings);
      if (filled) set_variable(environment, *filled);
    }
  }
  return environment;
}

}  // namespace wardcase::supervisor
