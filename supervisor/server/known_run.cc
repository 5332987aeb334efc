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

constexpr std::string_view kLate = "the deadline of the request has passed";

}  // namespace

std::string_view run_state_name(RunState state) {
  switch (state) {
    case RunState::queued:
      return "queued";
    case RunState::running:
      return "running";
    case RunState::ended:
      break;
  }
  return "ended";
}

KnownRun::KnownRun(EventLoop& loop, RunQueue& queue, RunTerms terms, Ended ended)
    : loop_(loop),
      queue_(queue),
      terms_(std::move(terms)),
      ended_(std::move(ended)),
      log_(terms_.form),
      created_(std::chrono::system_clock::now()),
      asked_at_(Clock::now()) {}

KnownRun::~KnownRun() { loop_.cancel(deadline_); }

bool KnownRun::begin(Job job, std::uint64_t bytes) {
  waiting_.id = id_ = job.spec.id;
  waiting_.language = language_ = job.spec.language;
  waiting_.limits = job.spec.limits;
  waiting_.status = RunStatus::running;
  const auto memory = job.spec.limits.get(policies::LimitId::memory);
  QueueObserver& observer = *this;
  const auto ticket = queue_.submit({std::move(job), terms_.owner, bytes, memory}, observer);
  if (!ticket) return false;
  ticket_ = *ticket;
  if (terms_.deadline && state_ != RunState::ended) {
    deadline_ = loop_.at(asked_at_ + *terms_.deadline, [this] { on_deadline(); });
  }
  return true;
}

void KnownRun::begin_elsewhere(RunRecord waiting, std::unique_ptr<OtherWork> work) {
  id_ = waiting.id;
  language_ = waiting.language;
  waiting_ = std::move(waiting);
  elsewhere_ = std::move(work);
  is_taken_ = false;
  if (terms_.deadline) {
    deadline_ = loop_.at(asked_at_ + *terms_.deadline, [this] { on_deadline(); });
  }
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
  conclude();
  ended_(&outline);
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
    state_ = RunState::ended;
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
  if (state_ == RunState::ended || !leaves_queue()) return;
  RunRecord record = waiting_;
  record.status = RunStatus::stopped;
  record.stop_signal = SIGTERM;
  record.error = "stopped before it began";
  record.queued = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - asked_at_);
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
  deadline_ = 0;
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
  } else if (state_ == RunState::queued) {
    record.queued = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - asked_at_);
  }
  return to_json(record, terms_.form) + "\n";
}

void KnownRun::on_begun() { state_ = RunState::running; }

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
  if (record != nullptr) {
    status_ = record->status;
    log_.events().on_end(*record);
  }
  conclude();
  ended_(record);
}

void KnownRun::conclude() {
  loop_.cancel(std::exchange(deadline_, 0));
  state_ = RunState::ended;
  ended_at_ = Clock::now();
  // Which may be what tells us.
  if (elsewhere_ != nullptr) loop_.post([gone = std::move(elsewhere_)] {});
  tell();
}

// Any of them may go while another is told.
void KnownRun::tell() {
  const std::vector<RunReader*> readers = readers_;
  for (RunReader* const reader : readers) {
    if (std::ranges::find(readers_, reader) == readers_.end()) continue;
    const auto more = reader->more_;  // a copy: it may destroy the reader
    more();
  }
}

void KnownRun::leave(RunReader& reader) {
  std::erase(readers_, &reader);
  if (state_ == RunState::ended) return;
  settle_pace();
  if (reader.bond_ == RunReader::Bond::none || terms_.is_detached) return;
  const bool is_awaited = std::ranges::any_of(
      readers_, [](const RunReader* each) { return each->bond_ != RunReader::Bond::none; });
  if (is_awaited) return;
  is_abandoned_ = true;
  stop();
}

void KnownRun::settle_pace() {
  if (state_ != RunState::running) return;
  std::size_t behind = 0;
  for (const RunReader* const reader : readers_) {
    if (reader->bond_ != RunReader::Bond::reads) continue;
    behind = std::max(behind, log_.bytes_after(reader->position_));
  }
  const bool has_to_wait = is_paused_ ? behind > kNearEnough : behind > kFarBehind;
  if (has_to_wait == is_paused_) return;
  is_paused_ = has_to_wait;
  if (elsewhere_ != nullptr) return elsewhere_->set_paused(is_paused_);
  queue_.set_paused(ticket_, is_paused_);
}

RunReader::RunReader(KnownRun& run, std::uint64_t after, Bond bond, std::function<void()> more)
    : run_(run), position_(after), bond_(bond), more_(std::move(more)) {
  // Its numbers begin anew: whoever had followed it would wait for one that never comes.
  if (run.status() == RunStatus::lost) position_ = 0;
  run_.readers_.push_back(this);
}

RunReader::~RunReader() { run_.leave(*this); }

std::optional<std::string> RunReader::next() {
  const RunLog& log = run_.log();
  if (position_ >= log.newest()) return std::nullopt;
  if (position_ + 1 < log.oldest()) {
    const std::uint64_t missing = log.oldest() - 1 - position_;
    position_ = log.oldest() - 1;
    return "{\"seq\":" + std::to_string(position_) +
           ",\"type\":\"progress\",\"dropped\":" + std::to_string(missing) + ",\"message\":\"" +
           std::to_string(missing) + " events are not kept any more\"}\n";
  }
  std::string line(log.line(++position_));
  run_.settle_pace();
  return line;
}

bool RunReader::is_over() const {
  return run_.state() == RunState::ended && position_ >= run_.log().newest();
}

}  // namespace wardcase::supervisor
