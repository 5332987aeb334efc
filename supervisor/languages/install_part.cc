// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/install_part.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "sandbox/sys/paths.h"
#include "sandbox/sys/retry.h"
#include "supervisor/languages/requirement_files.h"
#include "supervisor/run/without_namespaces.h"

namespace wardcase::supervisor {
namespace {

using policies::Installer;

constexpr std::size_t kHeadBytes = 64 << 10;  // a program's, where its own list may stand

// Without moving the descriptor's place: the box reads it from its start.
std::string head_of(int program) {
  std::string text(kHeadBytes, '\0');
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

void append(std::vector<Requirement>& all, std::vector<Requirement> more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

PartFailure refused(std::string error, std::string hint = "") {
  return {.status = RunStatus::install_failed, .error = std::move(error), .hint = std::move(hint)};
}

// What keeps the environment from being seen; "" if nothing does.
std::string why_not_shown(Installer installer, const RunSpec& program) {
  const std::string place(environment_place(installer));
  if (!has_namespaces(program)) {
    return "requirements need a box with namespaces; the policy '" + program.policy +
           "' has confinement = \"landlock\"";
  }
  const auto covers = [&](const policies::Mount& mount) {
    return sys::is_at_or_below(place, mount.target) || sys::is_at_or_below(mount.target, place);
  };
  const auto mount = std::ranges::find_if(program.mounts, covers);
  if (mount == program.mounts.end()) return "";
  return "requirements are shown at '" + place + "', which the mount at '" + mount->target +
         "' covers; mount it elsewhere";
}

}  // namespace

sys::Result<std::vector<Requirement>> collect_requirements(const RequirementSource& asked,
                                                           std::optional<Installer> installer,
                                                           int program, const std::string& name) {
  std::vector<Requirement> all;
  if (!installer) {
    if (asked.words.empty() && asked.files.empty()) return all;
    return tl::unexpected(
        sys::plain_error("requirements are those of Python and JavaScript; name the program's "
                         "language with -l python or -l javascript"));
  }
  for (const std::string& text : asked.words) {
    auto parsed = parse_requirement(*installer, text);
    if (!parsed) return tl::unexpected(std::move(parsed).error());
    all.push_back(*std::move(parsed));
  }
  for (const std::string& path : asked.files) {
    auto read = read_requirement_file(*installer, path);
    if (!read) return read;
    append(all, *std::move(read));
  }
  if (*installer == Installer::pip && program >= 0) {
    auto own = parse_script_block(head_of(program), name);
    if (!own) return own;
    append(all, *std::move(own));
  }
  return settle_requirements(std::move(all));
}

InstallPart::InstallPart(Installer installer, std::vector<Requirement> requirements,
                         const policies::Policy& policy) {
  request_.installer = installer;
  request_.requirements = std::move(requirements);
  request_.settings = policy.install;
  request_.limits = policies::install_limits_of(policy);
}

void InstallPart::before(EventLoop& loop, Host& host, RunSpec& program, StageNotes& notes,
                         Done done) {
  if (std::string why = why_not_shown(request_.installer, program); !why.empty()) {
    return done(refused(std::move(why)));
  }
  std::vector<std::string> names = program.program_names;
  if (names.empty()) names = {program.argv.front()};
  std::vector<policies::Mount> shown = program.system_mounts;
  shown.insert(shown.end(), program.mounts.begin(), program.mounts.end());
  request_.interpreter = find_in_box(names, program.environment, shown);
  if (request_.interpreter.empty()) return done(std::nullopt);  // the run itself says so
  // Later it might be one that was installed.
  program.program_names = {request_.interpreter};
  request_.shown = program.system_mounts;
  request_.policy = program.policy;
  request_.require = program.require;
  build_ = std::make_unique<EnvironmentBuild>(loop, host);
  build_->start(request_,
                [this, &program, &notes, done = std::move(done)](EnvironmentOutcome outcome) {
                  on_outcome(std::move(outcome), program, notes, done);
                });
}

void InstallPart::stop(int signal) { build_->stop(signal); }

void InstallPart::on_outcome(EnvironmentOutcome outcome, RunSpec& program, StageNotes& notes,
                             const Done& done) {
  notes.install = std::move(outcome.record);
  if (!outcome.failure) {
    entry_ = std::move(outcome.entry);
    show_environment(request_.installer, outcome.directory, program);
  }
  done(std::move(outcome.failure));
}

}  // namespace wardcase::supervisor
