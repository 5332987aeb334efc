// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/known_run.h"

#include <algorithm>
#include <csignal>
#include <utility>

namespace wardcase::supervisor {

namespace {

// What a client that reads may be behind before the program has to wait for it: well below what
// the log keeps, so that such a client misses nothing.
constexpr std::size_t kFarBehind = 1 << 20;
constexpr std::size_t kNearEnough = 256 << 10;

}  // namespace

KnownRun::KnownRun(EventLoop& loop, RunQueue& queue, RunTerms terms, Ended ended)
    : KnownWork(loop, std::move(terms), RunLog::kMostBytes),
      queue_(queue),
      ended_(std::move(ended)) {}

bool KnownRun::begin(Job job, std::uint64_t bytes) {
  waiting_.id = id_ = job.spec.id;
  waiting_.language = language_ = job.spec.language;
  waiting_.limits = job.spec.limits;
  waiting_.status = RunStatus::running;
  const auto memory = job.spec.limits.get(policies::LimitId::memory);
  QueueObserver& observer = *this;
  const auto ticket =
      queue_.submit({std::move(job), terms_.owner, bytes, memory, terms_.most}, observer);
  if (!ticket) return false;
  ticket_ = *ticket;
  watch_deadline([this] { on_deadline(); });
  return true;
}

void KnownRun::begin_elsewhere(RunRecord waiting, std::unique_ptr<OtherWork> work) {
  id_ = waiting.id;
  language_ = waiting.language;
  waiting_ = std::move(waiting);
  elsewhere_ = std::move(work);
  is_taken_ = false;
  watch_deadline([this] { on_deadline(); });
}

void KnownRun::note_taken() {
  is_taken_ = true;
  tell();
}

void KnownRun::take_line(std::string_view line) {
  log_.keep(line);
  tell();
  settle_pace();
}

// Its own call is under way.
void KnownRun::end_elsewhere(const RunRecord& outline) {
  status_ = outline.status;
  is_taken_ = true;
  note_end();
  let_go_of_work();
  ended_(*this, &outline);
  tell();
}

// It may be what tells us.
void KnownRun::let_go_of_work() {
  if (elsewhere_ != nullptr) loop_.post([gone = std::move(elsewhere_)] {});
}

void KnownRun::end_with(const RunRecord& record) {
  id_ = record.id;
  language_ = record.language;
  end(&record);
}

void KnownRun::restore(PastRun past) {
  id_ = std::move(past.id);
  language_ = std::move(past.language);
  created_ = past.created;
  if (past.end) {
    const auto age = std::chrono::system_clock::now() - past.end->at;
    ended_at_ = Clock::now() - std::max(age, age.zero());
    state_ = WorkState::ended;
    status_ = past.end->status;
    failure_ = std::move(past.end->failure);
    is_abandoned_ = past.end->is_abandoned;
    return log_.restore(past.end->last);
  }
  RunRecord record;
  record.id = id_;
  record.language = language_;
  record.status = RunStatus::lost;
  record.error = "the service died before the end of this run was known";
  record.hint = "ask for it once more";
  end(&record);
}

void KnownRun::stop() {
  if (state_ == WorkState::ended || !leaves_queue()) return;
  RunRecord record = waiting_;
  record.status = RunStatus::stopped;
  record.stop_signal = SIGTERM;
  record.error = "stopped before it began";
  record.queued = since_asked();
  end(&record);
}

// Asks once: a second signal would take from the program the time that it has to clean up.
bool KnownRun::leaves_queue() {
  if (std::exchange(is_stopping_, true)) return false;
  if (elsewhere_ == nullptr) return queue_.stop(ticket_, SIGTERM);
  elsewhere_->stop();
  return false;
}

void KnownRun::on_deadline() {
  is_late_ = true;
  if (leaves_queue()) {
    fail({std::string(kDeadlinePassed), std::string(kLate) + " before it could begin"});
  }
}

std::string KnownRun::record() const {
  if (auto last = log_.record()) return *std::move(last);
  RunRecord record = waiting_;
  if (auto so_far = queue_.record_so_far(ticket_)) {
    record = *std::move(so_far);
  } else if (state_ == WorkState::queued) {
    record.queued = since_asked();
  }
  return to_json(record, terms_.form) + "\n";
}

void KnownRun::on_begun() { state_ = WorkState::running; }

void KnownRun::on_output(Stream stream, std::string_view bytes) {
  log_.events().on_output(stream, bytes);
  tell();
  settle_pace();
}

void KnownRun::on_end(const RunRecord& record) {
  if (!is_late_ || record.status != RunStatus::stopped) return end(&record);
  RunRecord told = record;
  told.error = kLate;
  end(&told);
}

void KnownRun::on_given_up() { fail({std::string(kDraining), "the service is being stopped"}); }

void KnownRun::fail(RunFailure failure) {
  failure_ = std::move(failure);
  log_.fail(failure_->code, failure_->message);
  status_ = RunStatus::stopped;
  end(nullptr);
}

void KnownRun::end(const RunRecord* record) {
  note_end();
  if (record != nullptr) {
    status_ = record->status;
    log_.events().on_end(*record);
  }
  let_go_of_work();
  ended_(*this, record);  // first: what was told must not be forgotten
  tell();
}

void KnownRun::settle_pace() {
  if (state_ != WorkState::running) return;
  const std::size_t behind = bytes_behind();
  const bool has_to_wait = is_paused_ ? behind > kNearEnough : behind > kFarBehind;
  if (has_to_wait == is_paused_) return;
  is_paused_ = has_to_wait;
  if (elsewhere_ != nullptr) return elsewhere_->set_paused(is_paused_);
  queue_.set_paused(ticket_, is_paused_);
}

}  // namespace wardcase::supervisor
