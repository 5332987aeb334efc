// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/install_part.h"

#include <utility>

namespace wardcase::supervisor {
namespace {

using policies::Installer;

PartFailure refused(std::string error, std::string hint = "") {
  return {.status = RunStatus::install_failed, .error = std::move(error), .hint = std::move(hint)};
}

}  // namespace

InstallPart::InstallPart(Installer installer, std::vector<Requirement> requirements,
                         const policies::Policy& policy) {
  request_.installer = installer;
  request_.requirements = std::move(requirements);
  request_.settings = policy.install;
  request_.limits = policies::install_limits_of(policy);
}

void InstallPart::before(EventLoop& loop, Host& host, RunSpec& program, StageNotes& notes,
                         Done done) {
  if (std::string why = why_not_shown(environment_place(request_.installer), program);
      !why.empty()) {
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
