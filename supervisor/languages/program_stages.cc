// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/program_stages.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "supervisor/languages/compile_part.h"
#include "supervisor/languages/interpreter_search.h"
#include "supervisor/languages/program_command.h"
#include "supervisor/languages/syntax_check.h"

namespace wardcase::supervisor {

namespace fs = std::filesystem;

namespace {

using Filled = tl::expected<void, ProgramFailure>;
using Kind = ProgramSource::Kind;

void raise_default(policies::LimitId id, const std::optional<std::uint64_t>& need,
                   policies::Limits& limits) {
  const auto has = limits.get(id);
  if (!need || !has || *has >= *need || limits.is_required(id)) return;
  const auto& most = limits.maximum(id).value;
  limits.set_default(id, most ? std::min(*need, *most) : *need);
}

tl::unexpected<ProgramFailure> setup_failed(const sys::Error& error) {
  return tl::unexpected(
      ProgramFailure{RunStatus::setup_failed, std::nullopt, error.message(), error.code});
}

// Where the file is in the box if the workspace shows it; "" if not.
std::string place_in_workspace(const std::string& path, const policies::Mount& workspace) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) return "";
  const fs::path inside = real.lexically_relative(workspace.source);
  if (inside.empty() || *inside.begin() == "..") return "";
  return (fs::path("/box") / inside).string();
}

// The program is what comes out of a compiler: a part puts it there.
void compile_file(Placing placing, const policies::Language& language,
                  const policies::Runner& runner, Job& job) {
  CompileOrder order;
  order.runner = runner;
  order.language = language.name;
  order.source = {std::move(placing.name), std::move(placing.content)};
  order.interpreter = placing.source.interpreter;
  order.limits = stage_limits(placing.configuration.policy, runner.compile.limits);
  order.limits_place =
      "[compile] of the language '" + order.language + "' (" + std::string(language.origin) + ")";
  order.target = "/run/wardcase/" + std::string(runner.compile.output);
  const policies::Mount* const workspace = find_workspace(job.spec);
  if (workspace != nullptr && placing.source.kind == Kind::file) {
    const std::string shown = place_in_workspace(placing.source.text, *workspace);
    if (!shown.empty()) order.directory = fs::path(shown).parent_path().string().substr(4) + "/";
  }
  fill_command(runner.run, runner, {order.interpreter, std::nullopt, order.target, std::nullopt},
               placing.limits, job.spec);
  job.parts.push_back(std::make_unique<CompilePart>(std::move(order)));
}

// The check of a program's syntax: before it, or in its place.
Filled add_check(const Placing& placing, const policies::Language& language,
                 const policies::Runner& runner, Job& job) {
  if (runner.check.command.empty()) {
    const std::string reason(runner.check.refusal);
    return tl::unexpected(ProgramFailure{
        RunStatus::invalid_request, std::nullopt,
        "'" + placing.name + "': programs in " + std::string(language.name) +
            " can't be checked without running them" + (reason.empty() ? "" : ": " + reason)});
  }
  CheckOrder order;
  order.runner = runner;
  order.source.name = placing.name;
  order.source.content.reset(::fcntl(placing.content.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!order.source.content.is_open()) {
    return setup_failed(sys::errno_error("share the program"));
  }
  order.interpreter = placing.source.interpreter;
  order.script_suffix = fs::path(language.snippet_name).extension().string();
  order.limits = stage_limits(placing.configuration.policy, {});
  const policies::Mount* const workspace = find_workspace(job.spec);
  if (workspace != nullptr && placing.source.kind == Kind::file) {
    order.shown_at = place_in_workspace(placing.source.text, *workspace);
  }
  if (placing.source.validation == Validation::first) {
    job.parts.push_back(std::make_unique<CheckPart>(std::move(order)));
    return {};
  }
  if (const auto made = make_check(order, placing.host_cpus, job.spec); !made) {
    return setup_failed(made.error());
  }
  job.parts.push_back(std::make_unique<VerdictPart>(std::move(order)));
  return {};
}

}  // namespace

tl::expected<void, ProgramFailure> meet_needs(const policies::Language& language, RunSpec& spec) {
  raise_default(policies::LimitId::memory, language.needs.memory, spec.limits);
  raise_default(policies::LimitId::pids, language.needs.pids, spec.limits);
  for (const std::string_view call : language.allow_syscalls) {
    auto opened = policies::open_call(spec.syscalls, std::string(call), spec.policy);
    if (opened) continue;
    return tl::unexpected(ProgramFailure{RunStatus::invalid_request, std::nullopt,
                                         "the language '" + std::string(language.name) + "' (" +
                                             std::string(language.origin) + ") needs '" +
                                             std::string(call) + "': " + opened.error().message()});
  }
  return {};
}

std::string place_program(const ProgramSource& source, const std::string& name, mode_t mode,
                          sys::UniqueFd content, RunSpec& spec) {
  const policies::Mount* workspace = find_workspace(spec);
  if (workspace != nullptr && source.kind == Kind::file) {
    std::string shown = place_in_workspace(source.text, *workspace);
    if (!shown.empty()) return shown;
  }
  std::string path = (workspace == nullptr ? "/box/" : "/run/wardcase/") + name;
  spec.files.push_back({path, std::move(content), mode});
  return path;
}

Filled fill_language(Placing placing, const policies::Language& language, Job& job) {
  const policies::Runner& runner = choose_runner(language);
  job.spec.language = language.name;
  if (placing.source.validation != Validation::none) {
    auto added = add_check(placing, language, runner, job);
    if (!added || placing.source.validation == Validation::alone) return added;
  }
  if (!runner.compile.command.empty()) {
    compile_file(std::move(placing), language, runner, job);
    return {};
  }
  const std::string path =
      place_program(placing.source, placing.name, 0644, std::move(placing.content), job.spec);
  fill_command(runner.run, runner, {placing.source.interpreter, path, std::nullopt, std::nullopt},
               placing.limits, job.spec);
  return {};
}

}  // namespace wardcase::supervisor
