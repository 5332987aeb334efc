// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/sessions/session_prelude.h"

#include <optional>
#include <utility>

#include "supervisor/languages/stage_box.h"
#include "supervisor/sessions/interpreters.h"
#include "supervisor/sessions/keeper_protocol.h"

namespace wardcase::supervisor {

namespace {

sys::Result<SessionPrelude> read_prelude(const Prelude& prelude, Dialect dialect) {
  const auto refuse = [&](const std::string& why) {
    return tl::unexpected(sys::plain_error("prelude '" + prelude.name + "': " + why));
  };
  auto code = read_source(prelude.content.get(), prelude.name);
  if (!code) return refuse(code.error().message());
  if (code->size() > kMostCode) return refuse("is longer than 16 MiB");
  const std::size_t nul = code->find('\0');
  if (dialect == Dialect::lines && nul != std::string::npos) {
    return refuse("has a NUL byte at " + std::to_string(nul) + "; remove it");
  }
  return SessionPrelude{prelude.name, *std::move(code)};
}

}  // namespace

sys::Result<std::map<std::string, SessionPrelude>> read_session_preludes(
    const ProgramSource& asked, const Configuration& configuration,
    const std::string& default_language) {
  const std::optional<std::string>& file = asked.prelude;
  const policies::LanguageSet& languages = configuration.languages;
  const policies::Language* of_file = file ? languages.of_file(*file) : nullptr;
  if (of_file == nullptr) of_file = languages.find(default_language);
  if (file && !live_interpreter(*of_file)) {
    return tl::unexpected(sys::plain_error(
        "--prelude " + *file + ": programs in " + std::string(of_file->name) +
        " don't run in sessions, only those in python, javascript and bash; leave it out"));
  }
  std::map<std::string, SessionPrelude> preludes;
  for (const policies::Language& language : languages.all()) {
    const auto interpreter = live_interpreter(language);
    if (!interpreter) continue;
    ProgramSource source;
    if (&language == of_file) {
      source.prelude = file;
      source.prelude_text = asked.prelude_text;
    }
    const auto opened = open_prelude(source, configuration, &language);
    if (!opened) return tl::unexpected(sys::plain_error(opened.error().error));
    if (!*opened) continue;
    auto prelude = read_prelude(**opened, interpreter->dialect);
    if (!prelude) return tl::unexpected(std::move(prelude).error());
    preludes.emplace(language.name, *std::move(prelude));
  }
  return preludes;
}

}  // namespace wardcase::supervisor
