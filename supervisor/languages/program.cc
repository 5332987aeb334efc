// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/program.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "policies/snippet_name.h"
#include "sandbox/sys/retry.h"
#include "supervisor/languages/denied_code.h"
#include "supervisor/languages/error_report.h"
#include "supervisor/languages/install_part.h"
#include "supervisor/languages/interpreter_hook.h"
#include "supervisor/languages/program_environment.h"
#include "supervisor/languages/program_file.h"
#include "supervisor/languages/program_stages.h"
#include "supervisor/languages/stage_box.h"

namespace wardcase::supervisor {

namespace fs = std::filesystem;

namespace {

using Filled = tl::expected<void, ProgramFailure>;
using Kind = ProgramSource::Kind;

constexpr int kNotExecutable = 126;
constexpr int kNotFound = 127;

tl::unexpected<ProgramFailure> cannot_execute(int exit_code, std::string message) {
  return tl::unexpected(ProgramFailure{RunStatus::cannot_execute, exit_code, std::move(message)});
}

tl::unexpected<ProgramFailure> invalid(std::string message) {
  return tl::unexpected(
      ProgramFailure{RunStatus::invalid_request, std::nullopt, std::move(message)});
}

// A file that can't be had is the caller's affair, all else is ours.
tl::unexpected<ProgramFailure> no_content(const std::string& name, const sys::Error& error) {
  const std::string what = "run '" + name + "': ";
  switch (error.code) {
    case ENOENT:
    case ENOTDIR:
      return cannot_execute(kNotFound, what + "no such file");
    case EISDIR:
      return cannot_execute(kNotExecutable, what + "is a directory");
    case EACCES:
      return cannot_execute(kNotExecutable, what + "not readable for you");
    case EFBIG:
      return invalid(what + error.what);
    default:
      return tl::unexpected(ProgramFailure{RunStatus::setup_failed, std::nullopt,
                                           what + error.message(), error.code});
  }
}

sys::Result<sys::UniqueFd> open_content(const ProgramSource& source) {
  if (source.kind == Kind::file) return open_program(source.text);
  if (source.kind == Kind::code) return text_in_memory(source.text);
  return read_into_memory(STDIN_FILENO);
}

// What a program without a file is called in the box; its content may have a say in it.
sys::Result<std::string> name_snippet(const policies::Language& language, int content) {
  if (language.variant.name.empty()) return std::string(language.snippet_name);
  auto text = read_source(content, "the program");
  if (!text) return text;
  return std::string(policies::snippet_name(language, *text));
}

// nullptr: none was named and the file's name does not tell.
tl::expected<const policies::Language*, ProgramFailure> choose_language(
    const ProgramSource& source, const policies::LanguageSet& languages) {
  if (source.kind == Kind::command) return nullptr;
  if (source.language) {
    const policies::Language* language = languages.find(*source.language);
    if (language != nullptr) return language;
    return invalid("language '" + *source.language + "' is not known; it is one of " +
                   languages.names(", "));
  }
  if (source.kind == Kind::file) return languages.of_file(source.text);
  return invalid("a program without a file name needs a language, one of " + languages.names(", "));
}

// Without moving the descriptor's place: the box reads it from its start.
std::string head_of(int program) {
  std::string text(kRequirementHead, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = sys::retry_eintr([&] {
      return ::pread(program, text.data() + size, text.size() - size, static_cast<off_t>(size));
    });
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return text;
}

// What has to be installed for it. A command's language is that of the interpreter it names.
Filled add_install(const ProgramSource& source, const policies::Policy& policy,
                   std::string_view language, int program, const std::string& name, Job& job) {
  const auto installer = installer_of(language);
  const auto asked = read_requirements(source.requirements);
  if (!asked) return invalid(asked.error().message());
  const bool may_list = installer == policies::Installer::pip && program >= 0;
  auto needed =
      collect_requirements(*asked, installer, may_list ? head_of(program) : std::string(), name);
  if (!needed) return invalid(needed.error().message());
  if (needed->empty()) return {};
  job.parts.push_back(std::make_unique<InstallPart>(*installer, *std::move(needed), policy));
  return {};
}

std::string language_of_command(const std::string& program) {
  const std::string name = fs::path(program).filename().string();
  if (name.starts_with("python")) return "python";
  return name == "node" || name == "nodejs" ? "javascript" : "";
}

// All but commands: the content becomes a file of the box, and argv names it.
Filled fill_file(const ProgramSource& source, const policies::Language* language,
                 const Configuration& configuration, const policies::Limits& limits,
                 unsigned host_cpus, Job& job) {
  RunSpec& spec = job.spec;
  const policies::LanguageSet& languages = configuration.languages;
  if (language == nullptr && source.validation != Validation::none) {
    return invalid("'" + source.text + "': can't tell its language; name it with -l " +
                   languages.names("|"));
  }
  const bool is_file = source.kind == Kind::file;
  auto content = open_content(source);
  if (!content) return no_content(is_file ? source.text : "-", content.error());

  const bool runs_itself = language == nullptr && !source.interpreter;
  const auto is_executable = starts_like_executable(content->get());
  if (!is_executable) return no_content(is_file ? source.text : "-", is_executable.error());
  if (runs_itself && !*is_executable) {
    return cannot_execute(kNotExecutable, "run '" + source.text +
                                              "': can't tell its language; name it with -l " +
                                              languages.names("|"));
  }
  auto name = is_file || language == nullptr ? fs::path(source.text).filename().string()
                                             : name_snippet(*language, content->get());
  if (!name) return no_content("-", name.error());
  if (!configuration.policy.denied_code.empty()) {
    const auto text = read_source(content->get(), *name);
    if (!text) return no_content(is_file ? source.text : "-", text.error());
    auto refused = refuse_code(configuration.policy, language, *text);
    if (refused) return tl::unexpected(*std::move(refused));
  }
  const std::size_t parts = job.parts.size();
  if (source.validation != Validation::alone) {
    auto added = add_install(source, configuration.policy,
                             language != nullptr ? language->name : std::string_view(),
                             content->get(), *name, job);
    if (!added) return added;
  }
  const std::size_t installs = job.parts.size() - parts;
  if (language != nullptr) {
    auto filled = fill_language(
        {source, configuration, limits, host_cpus, *std::move(name), *std::move(content)},
        *language, job);
    if (!filled || source.validation == Validation::alone) return filled;
    // What can't be right needs nothing installed.
    const auto first = job.parts.begin() + static_cast<std::ptrdiff_t>(parts);
    std::rotate(first, first + static_cast<std::ptrdiff_t>(installs), job.parts.end());
  } else {
    if (source.interpreter) spec.argv.push_back(*source.interpreter);
    const mode_t mode = runs_itself ? 0755 : 0644;
    spec.argv.push_back(place_program(source, *name, mode, *std::move(content), spec));
  }
  spec.argv.insert(spec.argv.end(), source.arguments.begin(), source.arguments.end());
  return {};
}

}  // namespace

RunRecord ProgramFailure::record(const RunSpec& spec) const {
  RunRecord record;
  record.id = spec.id;
  record.language = spec.language;
  record.status = status;
  record.exit_code = exit_code;
  record.limits = spec.limits;
  record.error = error;
  record.hint = hint;
  record.error_type = error_type;
  if (error_type) record.error_message = error;
  return record;
}

Filled show_etc(const policies::LanguageSet& languages, RunSpec& spec) {
  for (const policies::Language& language : languages.all()) {
    for (const std::string_view path : language.etc_paths) {
      std::error_code error;
      const fs::path real = fs::canonical(path, error);
      const bool is_absent = error == std::errc::no_such_file_or_directory ||
                             error == std::errc::not_a_directory ||
                             error == std::errc::permission_denied ||
                             error == std::errc::too_many_symbolic_link_levels;
      if (is_absent) continue;  // this host has none, or none for its caller
      if (error) {
        const sys::Error failed = {error.value(), "look at '" + std::string(path) + "'"};
        return tl::unexpected(
            ProgramFailure{RunStatus::setup_failed, std::nullopt, failed.message(), failed.code});
      }
      spec.system_mounts.push_back(
          {real.string(), std::string(path), policies::MountMode::read_only});
    }
  }
  return {};
}

Filled fill_program(const ProgramSource& source, const Configuration& configuration,
                    const std::vector<std::string>& variables, unsigned host_cpus, Job& job) {
  const policies::LanguageSet& languages = configuration.languages;
  RunSpec& spec = job.spec;
  const auto chosen = choose_language(source, languages);
  if (!chosen) return tl::unexpected(chosen.error());
  const policies::Language* const language = *chosen;
  if (language != nullptr) {
    if (auto met = meet_needs(*language, spec); !met) return met;
  }
  policies::Limits limits = spec.limits;
  if (auto known = limits.resolve(host_cpus,
                                  /*captured=*/spec.capture == Capture::keep);
      !known) {
    return invalid(known.error().message());
  }
  spec.environment = standard_environment(limits, languages.all(),
                                          spec.terminal ? Audience::at_terminal : Audience::nobody);
  if (auto shown = show_etc(languages, spec); !shown) return shown;
  if (source.kind == Kind::command) {
    spec.argv = source.arguments;
    std::string words;
    for (const std::string& word : source.arguments) words += (words.empty() ? "" : " ") + word;
    auto refused = refuse_code(configuration.policy, /*language=*/nullptr, words);
    if (refused) return tl::unexpected(*std::move(refused));
    const std::string named = language_of_command(spec.argv.front());
    auto added = add_install(source, configuration.policy, named, /*program=*/-1, "", job);
    if (!added) return added;
  } else if (auto filled = fill_file(source, language, configuration, limits, host_cpus, job);
             !filled) {
    return filled;
  }
  // A snippet is put beside the workspace, but means to import what is in it.
  if (source.kind != Kind::file && spec.language == "python" && find_workspace(spec) != nullptr) {
    set_variable(spec.environment, "PYTHONPATH=/box");
  }
  set_variables(spec.environment, variables);
  if (source.validation == Validation::alone) return {};  // it has an interpreter of its own
  auto prelude = open_prelude(source, configuration, language);
  if (!prelude) return tl::unexpected(std::move(prelude).error());
  // Last: what it adds to argv and environment stands before what other parts do.
  job.parts.push_back(std::make_unique<ErrorReport>(
      language == nullptr ? nullptr : find_hook(language->hook), *std::move(prelude)));
  return {};
}

}  // namespace wardcase::supervisor
