// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/denied_code.h"

#include <algorithm>
#include <string>

#include "policies/code_pattern.h"

namespace wardcase::supervisor {
namespace {

bool concerns(const policies::DeniedCode& denied, const policies::Language* language) {
  if (denied.languages.empty()) return true;
  return language != nullptr && std::ranges::any_of(denied.languages, [&](const std::string& name) {
           return name == language->name ||
                  std::ranges::find(language->aliases, name) != language->aliases.end();
         });
}

}  // namespace

std::optional<ProgramFailure> refuse_code(const policies::Policy& policy,
                                          const policies::Language* language,
                                          std::string_view code) {
  for (const auto& [denied, origin] : policy.denied_code) {
    if (!concerns(denied, language)) continue;
    const auto line = policies::find_code(denied.pattern, code);
    if (!line) continue;
    ProgramFailure failure = {RunStatus::invalid_request, std::nullopt, ""};
    failure.error = "line " + std::to_string(*line) + " has what the policy denies as '" +
                    denied.name + "'" + (denied.why.empty() ? "" : ": " + denied.why);
    failure.error_type = "PermissionError";
    failure.hint = "deny_code." + denied.name + " is set in " + origin;
    return failure;
  }
  return std::nullopt;
}

}  // namespace wardcase::supervisor
