// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <signal.h>

#include <utility>

#include "supervisor/languages/program_environment.h"
#include "supervisor/sessions/session.h"

// What programs of a session require: it is installed before they begin, shown in the box that
// lives, and told to the interpreter that lives.
namespace wardcase::supervisor {

namespace {

constexpr std::chrono::seconds kAddPatience{30};

std::vector<std::string> names_in(const std::string& lines) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size());
    names.push_back(lines.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

}  // namespace

bool Session::has_requirements() {
  if (!installing_for_.empty()) return false;
  const ExecRequest& request = queue_.front()->request();
  const auto installer = installer_of(request.language);
  if (!installer || environments_.has_all(*installer, request.requirements)) return true;
  const auto box = spec_.make_box();
  if (!box) {
    fail_front(RunStatus::setup_failed, box.error().message());
    return false;
  }
  const auto live = live_interpreter(*spec_.languages->find(request.language));
  EnvironmentRequest wanted;
  wanted.installer = *installer;
  wanted.requirements = request.requirements;
  wanted.shown = box->system_mounts;
  std::vector<policies::Mount> mounts = box->system_mounts;
  mounts.insert(mounts.end(), box->mounts.begin(), box->mounts.end());
  wanted.interpreter = find_in_box(names_in(live->programs), spec_.environment, mounts);
  wanted.settings = spec_.policy->install;
  wanted.limits = policies::install_limits_of(*spec_.policy);
  wanted.policy = box->policy;
  wanted.require = box->require;
  if (wanted.interpreter.empty()) return true;  // its start says so
  installing_for_ = request.id;
  install_began_ = Clock::now();
  environments_.add(std::move(wanted), *box,
                    [this](std::optional<PartFailure> failure, std::optional<StageRecord> record) {
                      on_installed(std::move(failure), std::move(record));
                    });
  return false;
}

// The program that it was for may have been given up meanwhile; what is there stays for others.
void Session::on_installed(std::optional<PartFailure> failure, std::optional<StageRecord> record) {
  const std::string id = std::exchange(installing_for_, "");
  if (is_closing_) return end_when_nothing_is_left();
  step_later();
  if (queue_.empty() || queue_.front()->request().id != id) return;
  Execution& waiting = *queue_.front();
  waiting.note_install(std::move(record), Clock::now() - install_began_);
  if (!failure && !waiting.has_cause()) return;  // it may have been stopped just now
  const std::unique_ptr<Execution> failed = std::move(queue_.front());
  queue_.pop_front();
  if (failure) failed->set_cause(*std::move(failure));
  idle_since_ = Clock::now();
  failed->finish();
}

void Session::stop_installing() {
  for (int i = 0; i < 2; ++i) environments_.stop(SIGTERM);  // without patience
}

bool Session::knows_environments(Interpreter& interpreter) {
  if (const auto shown = environments_.show_in(*box_); !shown) {
    fail_front(RunStatus::setup_failed, shown.error().message());
    return false;
  }
  const auto installer = installer_of(interpreter.language);
  const auto places = installer ? environments_.places(*installer) : std::vector<std::string>();
  if (interpreter.told == places.size()) return true;
  if (!std::exchange(interpreter.is_told, true)) {
    interpreter.worker->add_path(places[interpreter.told]);
  }
  if (start_timer_ != 0) return false;
  start_timer_ = loop_.at(Clock::now() + kAddPatience, [this] { give_up_start(); });
  return false;
}

void Session::on_added(std::uint32_t worker) {
  const auto found = interpreters_.find(worker);
  if (found == interpreters_.end() || !std::exchange(found->second.is_told, false)) return;
  ++found->second.told;
  loop_.cancel(std::exchange(start_timer_, 0));
  step_later();
}

}  // namespace wardcase::supervisor
