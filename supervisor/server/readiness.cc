// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/readiness.h"

#include <utility>

#include "supervisor/server/request_spec.h"

namespace wardcase::supervisor {

namespace {

constexpr std::chrono::seconds kBetweenLooks{2};

}  // namespace

Readiness::Readiness(EventLoop& loop, Host& host, const ServiceConfiguration& configuration,
                     StartRun start)
    : loop_(loop), host_(host), configuration_(configuration), start_(std::move(start)) {}

Readiness::~Readiness() { loop_.cancel(timer_); }

void Readiness::look(std::function<void()> known) {
  known_ = std::move(known);
  rehearse();
}

void Readiness::doubt() {
  if (rehearsal_ == nullptr && timer_ == 0) rehearse();
}

void Readiness::rehearse() {
  timer_ = 0;
  if (!host_.check()) return conclude(host_.check().error().message());
  RunRequest request;
  request.argv = {"true"};
  auto settled = settle_request(request, configuration_.policies(), host_);
  if (!settled) return conclude(settled.error().detail);
  if (settled->refusal) return conclude(settled->refusal->error);
  settled->job.spec.rehearsal = true;
  RunObserver& observer = *this;
  rehearsal_ = start_(std::move(settled->job), observer);
}

void Readiness::on_end(const RunRecord& record) {
  // The run's own call is still under way: what it is made of goes in the next turn.
  loop_.post([over = std::exchange(rehearsal_, nullptr)] {});
  conclude(record.status == RunStatus::exited ? "" : record.error);
}

void Readiness::conclude(std::string why_not) {
  why_not_ = std::move(why_not);
  if (!why_not_.empty()) {
    timer_ = loop_.at(Clock::now() + kBetweenLooks, [this] { rehearse(); });
  }
  if (known_) loop_.post(std::exchange(known_, nullptr));
}

}  // namespace wardcase::supervisor
