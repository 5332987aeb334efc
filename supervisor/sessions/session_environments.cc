// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/sessions/session_environments.h"

#include <algorithm>
#include <utility>

namespace wardcase::supervisor {
namespace {

using policies::Installer;

constexpr std::size_t kMostEnvironments = 64;  // the box's root has few inodes
constexpr std::string_view kPlaces = "/opt/wardcase";
constexpr std::string_view kModules = "/node_modules";

PartFailure refused(std::string error) {
  return {.status = RunStatus::install_failed, .error = std::move(error)};
}

// Without a range of versions: any will do.
bool takes_any(Installer installer, const Requirement& requirement) {
  return requirement.text == requirement.name + (installer == Installer::npm ? "@latest" : "");
}

}  // namespace

bool SessionEnvironments::has(Installer installer, const Requirement& requirement) const {
  return std::ranges::any_of(environments_, [&](const Environment& each) {
    if (each.installer != installer) return false;
    if (std::ranges::find(each.requirements, requirement.text, &Requirement::text) !=
        each.requirements.end()) {
      return true;
    }
    if (installer == Installer::npm) {
      const std::string version = installed_package(each.directory, requirement.name);
      return !version.empty() && (takes_any(installer, requirement) ||
                                  requirement.text == requirement.name + "@" + version);
    }
    const auto found = installed_distributions(each.directory);
    return std::ranges::any_of(found, [&](const std::string& distribution) {
      return distribution == requirement.text ||
             (takes_any(installer, requirement) &&
              distribution.starts_with(requirement.name + "=="));
    });
  });
}

bool SessionEnvironments::has_all(Installer installer,
                                  const std::vector<Requirement>& requirements) const {
  return std::ranges::all_of(
      requirements, [&](const Requirement& requirement) { return has(installer, requirement); });
}

// The first is where runs have theirs.
std::string SessionEnvironments::next_place(Installer installer) const {
  const auto number = 1 + std::ranges::count(environments_, installer, &Environment::installer);
  if (installer == Installer::npm) {
    return number == 1 ? "" : std::string(kPlaces) + "/npm-" + std::to_string(number);
  }
  std::string place(environment_place(installer));
  return number == 1 ? place : place + "-" + std::to_string(number);
}

void SessionEnvironments::add(EnvironmentRequest request, const RunSpec& box, Done done) {
  std::erase_if(request.requirements,
                [&](const Requirement& each) { return has(request.installer, each); });
  std::string why = why_not_shown(kPlaces, box);
  if (why.empty() && request.installer == Installer::npm) why = why_not_shown(kModules, box);
  if (why.empty() && environments_.size() == kMostEnvironments) {
    why = "the session has " + std::to_string(kMostEnvironments) + " environments already";
  }
  if (!why.empty()) return done(refused(std::move(why)), std::nullopt);
  for (const Environment& each : environments_) {
    if (each.installer != Installer::pip || request.installer != Installer::pip) continue;
    std::ranges::copy(installed_distributions(each.directory),
                      std::back_inserter(request.constraints));
  }
  std::ranges::sort(request.constraints);
  // Not std::ranges::unique, which clang 14 can't read.
  request.constraints.erase(std::unique(request.constraints.begin(), request.constraints.end()),
                            request.constraints.end());
  build_ = std::make_unique<EnvironmentBuild>(loop_, host_);
  build_->start(request, [this, request, done = std::move(done)](EnvironmentOutcome outcome) {
    // Its own call is under way.
    loop_.post([build = std::shared_ptr<EnvironmentBuild>(std::move(build_))] {});
    on_outcome(request, std::move(outcome), done);
  });
}

void SessionEnvironments::stop(int signal) {
  if (build_ != nullptr) build_->stop(signal);
}

void SessionEnvironments::on_outcome(const EnvironmentRequest& request, EnvironmentOutcome outcome,
                                     const Done& done) {
  if (!outcome.failure) {
    std::string conflict = find_conflict(request, outcome.directory);
    if (!conflict.empty()) outcome.failure = refused(std::move(conflict));
  }
  if (!outcome.failure) {
    environments_.push_back({.installer = request.installer,
                             .requirements = request.requirements,
                             .directory = std::move(outcome.directory),
                             .place = next_place(request.installer),
                             .entry = std::move(outcome.entry)});
  }
  done(std::move(outcome.failure), std::move(outcome.record));
}

// pip holds to constraints; npm knows nothing of what is beside, and what is there is found first.
std::string SessionEnvironments::find_conflict(const EnvironmentRequest& request,
                                               const std::string& directory) const {
  if (request.installer != Installer::npm) return "";
  for (const Requirement& wanted : request.requirements) {
    const std::string version = installed_package(directory, wanted.name);
    for (const Environment& each : environments_) {
      if (each.installer != Installer::npm) continue;
      const std::string has = installed_package(each.directory, wanted.name);
      if (has.empty() || has == version) continue;
      return "npm: the session has " + wanted.name + "@" + has + ", and " + wanted.text +
             " comes to " + version;
    }
  }
  return "";
}

sys::Status SessionEnvironments::show_in(Run& box) {
  for (; shown_ < environments_.size(); ++shown_) {
    const Environment& next = environments_[shown_];
    const bool is_npm = next.installer == Installer::npm;
    const std::string modules(is_npm ? kModules : "");
    auto shown = box.show_directory(next.directory + modules, next.place + modules);
    if (!shown) return shown;
  }
  return {};
}

std::vector<std::string> SessionEnvironments::places(Installer installer) const {
  std::vector<std::string> all;
  for (const Environment& each : environments_) {
    if (each.installer == installer) all.push_back(each.place);
  }
  return all;
}

}  // namespace wardcase::supervisor
