// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/prelude.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "supervisor/languages/interpreter_hook.h"
#include "supervisor/languages/program.h"
#include "supervisor/languages/program_file.h"

namespace wardcase::supervisor {
namespace {

tl::unexpected<ProgramFailure> refuse(std::string error) {
  return tl::unexpected(ProgramFailure{RunStatus::invalid_request, std::nullopt, std::move(error)});
}

bool can_have_prelude(const policies::Language& language) {
  const InterpreterHook* hook = find_hook(language.hook);
  return hook != nullptr && hook->runs_preludes;
}

// "python, javascript, bash"
std::string languages_with_preludes(const policies::LanguageSet& languages) {
  std::string names;
  for (const policies::Language& language : languages.all()) {
    if (!can_have_prelude(language)) continue;
    names += (names.empty() ? "" : ", ") + std::string(language.name);
  }
  return names;
}

struct Named {
  std::string path;
  std::string what;  // "--prelude x.py", for errors
};

tl::expected<Named, ProgramFailure> choose(const ProgramSource& source,
                                           const Configuration& configuration,
                                           const policies::Language* language) {
  if (source.prelude_text) return Named{"prelude", "prelude"};
  if (source.prelude) return Named{*source.prelude, "--prelude " + *source.prelude};
  for (const auto& [prelude, origin] : configuration.policy.preludes) {
    const policies::Language* const meant = configuration.languages.find(prelude.name);
    const std::string what = origin + ": prelude." + prelude.name;
    if (meant == nullptr) return refuse(what + ": no such language");
    if (meant == language) return Named{prelude.value, what + " '" + prelude.value + "'"};
  }
  return Named{};
}

}  // namespace

tl::expected<std::optional<Prelude>, ProgramFailure> open_prelude(
    const ProgramSource& source, const Configuration& configuration,
    const policies::Language* language) {
  const auto named = choose(source, configuration, language);
  if (!named) return tl::unexpected(named.error());
  if (named->path.empty() && !source.prelude) return std::nullopt;
  if (language == nullptr || !can_have_prelude(*language)) {
    const std::string program =
        language == nullptr ? "this program" : "a program in " + std::string(language->name);
    return refuse(named->what + ": " + program + " can't have one, only those in " +
                  languages_with_preludes(configuration.languages) + "; leave it out");
  }
  auto content =
      source.prelude_text ? text_in_memory(*source.prelude_text) : open_program(named->path);
  if (!content) {
    return refuse(named->what + ": " + std::move(content).error().message());
  }
  return Prelude{std::filesystem::path(named->path).filename().string(), *std::move(content)};
}

}  // namespace wardcase::supervisor
