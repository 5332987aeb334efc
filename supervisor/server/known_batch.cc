// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/known_batch.h"

#include <algorithm>
#include <boost/json.hpp>
#include <limits>
#include <utility>

#include "supervisor/run/record_parts.h"
#include "supervisor/run/run.h"

namespace wardcase::supervisor {

namespace json = boost::json;

namespace {

// Where the queue is full, or descriptors are used up.
constexpr std::chrono::milliseconds kRetry{20};
// Where none counts after the first that fails, cases this far behind the first that is not yet
// decided may run for nothing.
constexpr std::size_t kAhead = 16;
constexpr std::size_t kShortOutput = 256;

bool has_failed(const CaseOutcome& outcome) {
  return outcome.verdict == Verdict::wrong_answer || outcome.verdict == Verdict::run_failed;
}

}  // namespace

KnownBatch::KnownBatch(EventLoop& loop, RunQueue& queue, RunTerms terms, BatchPlan plan,
                       Listener listener)
    : KnownWork(loop, std::move(terms), std::numeric_limits<std::size_t>::max()),
      queue_(queue),
      plan_(std::move(plan)),
      listener_(std::move(listener)),
      bytes_(plan_.bytes),
      count_(plan_.request.cases.size()),
      stops_early_(plan_.request.stops_early),
      lines_(count_, 0) {
  id_ = make_id("bat_");
  if (plan_.program != nullptr) language_ = plan_.program->spec().language;
}

KnownBatch::~KnownBatch() { loop_.cancel(retry_); }

sys::Result<bool> KnownBatch::begin() {
  if (plan_.refusal) {
    loop_.post([this] {
      if (plan_.refusal) fail(*plan_.refusal);  // else it was ended before that, by a drain
    });
    return true;
  }
  auto begun = prepare();
  if (begun && *begun) watch_deadline([this] { stop_because(std::string(kLate)); });
  return begun;
}

PreparedProgram* KnownBatch::next_to_prepare() const {
  if (prepared_ == 0) return plan_.program.get();
  return prepared_ == 1 ? plan_.checker.get() : nullptr;
}

sys::Result<bool> KnownBatch::prepare() {
  auto job = next_to_prepare()->preparation();
  if (!job) return tl::unexpected(std::move(job).error());
  preparation_ = std::make_unique<PreparationRun>(
      queue_,
      [this] {
        if (state_ != WorkState::queued) return;
        state_ = WorkState::running;
        begun_at_ = Clock::now();
        queued_ = since_asked();
        log_.events().on_start(id_);
        tell();
      },
      [this](const RunRecord* record) { on_prepared(record); });
  const bool is_taken = preparation_->begin(
      {*std::move(job), terms_.owner, bytes_,
       next_to_prepare()->spec().limits.get(policies::LimitId::memory), plan_.most});
  if (!is_taken) preparation_.reset();
  return is_taken;
}

// Its own call is still under way: what is over goes in the next turn.
void KnownBatch::on_prepared(const RunRecord* record) {
  std::shared_ptr<PreparationRun> over = std::move(preparation_);
  loop_.post([over = std::move(over)] {});
  if (record == nullptr || (record->status == RunStatus::stopped && is_stopping_)) {
    begin_drain();
    return;
  }
  if (prepared_ == 0 || record->status != RunStatus::exited) {
    compile_ = record->compile;
    install_ = record->install;
  }
  if (record->status == RunStatus::exited) {
    ++prepared_;
    return advance();
  }
  RunRecord unready = *record;
  if (prepared_ > 0) unready.error.insert(0, "checker: ");
  fail(unready);
}

// No case can be run.
void KnownBatch::fail(const RunRecord& record) {
  if (state_ == WorkState::ended) return;
  unready_ = record;
  status_ = status_name(record.status);
  for (std::size_t i = 0; i < count_; ++i) {
    tell_case(i, {Verdict::run_failed, describe_end(record), std::nullopt, std::nullopt});
  }
  finish();
}

void KnownBatch::advance() {
  if (state_ == WorkState::ended || preparation_ != nullptr) return;
  if (is_stopping_ || cut_after_ || next_ == count_) {
    if (running_.empty()) finish();
    return;
  }
  if (next_to_prepare() == nullptr) return begin_cases();
  const auto begun = prepare();
  if (!begun || !*begun) advance_later();
}

void KnownBatch::advance_later() {
  if (retry_ != 0) return;
  retry_ = loop_.at(Clock::now() + kRetry, [this] {
    retry_ = 0;
    advance();
  });
}

bool KnownBatch::may_begin_another() const {
  if (is_stopping_ || cut_after_ || next_ == count_) return false;
  if (stops_early_ && next_ >= told_in_order_ + queue_.most().running + kAhead) return false;
  return running_.size() < std::max<std::size_t>(1, queue_.most().running);
}

void KnownBatch::begin_cases() {
  while (may_begin_another()) {
    const std::size_t index = next_;
    auto run = std::make_unique<CaseRun>(queue_, plan_, index, [this, index](CaseOutcome outcome) {
      on_case(index, std::move(outcome));
    });
    const auto begun = run->begin(terms_.owner);
    if (!begun || !*begun) return advance_later();
    running_[next_++] = std::move(run);
  }
}

void KnownBatch::on_case(std::size_t index, CaseOutcome outcome) {
  std::shared_ptr<CaseRun> over = std::move(running_.extract(index).mapped());
  loop_.post([over = std::move(over)] {});
  if (outcome.record) listener_.on_record(*this, *outcome.record);
  if (!outcome.record && !cut_after_) note_drain();  // it was given up, and so are the others
  const bool counts = !cut_after_ || index < *cut_after_;
  if (counts) decide(index, std::move(outcome));
  advance();
}

// Where the first failure ends all, what is told has to be the same however the cases overtake
// each other: so each waits for those before it.
void KnownBatch::decide(std::size_t index, CaseOutcome outcome) {
  if (outcome.verdict == Verdict::skipped) outcome.reason = why_skipped_;
  if (!stops_early_) return tell_case(index, std::move(outcome));
  held_[index] = std::move(outcome);
  while (!cut_after_ && held_.contains(told_in_order_)) {
    CaseOutcome next = std::move(held_.extract(told_in_order_).mapped());
    const std::size_t at = told_in_order_++;
    const bool is_first_failure = has_failed(next);
    tell_case(at, std::move(next));
    if (is_first_failure) skip_after(at);
  }
}

void KnownBatch::skip_after(std::size_t index) {
  cut_after_ = index;
  why_skipped_ = "case " + std::to_string(index) + " failed before it";
  held_.clear();
  stop_what_runs();
}

void KnownBatch::tell_case(std::size_t index, CaseOutcome outcome) {
  switch (outcome.verdict) {
    case Verdict::passed:
      ++passed_;
      break;
    case Verdict::wrong_answer:
      ++wrong_;
      break;
    case Verdict::run_failed:
      ++failed_;
      break;
    case Verdict::skipped:
      ++skipped_;
      break;
  }
  if (has_failed(outcome)) first_failed_ = std::min(first_failed_.value_or(index), index);
  std::string members = to_members(index, outcome, terms_.form);
  if (outcome.record && record_bytes_ + members.size() > kMostRecordBytes) {
    shorten(*outcome.record);
    if (outcome.checker_output)
      outcome.checker_output->resize(std::min(outcome.checker_output->size(), kShortOutput));
    members = to_members(index, outcome, terms_.form);
  }
  record_bytes_ += members.size();
  log_.events().on_event("case", members);
  lines_[index] = log_.newest();
  tell();
}

void KnownBatch::stop_because(std::string why) {
  if (state_ == WorkState::ended || is_stopping_) return;
  is_stopping_ = true;
  if (!cut_after_) why_skipped_ = std::move(why);
  if (preparation_ != nullptr) preparation_->stop();
  stop_what_runs();
  advance();
}

// One may leave the queue, and so this map, while it is told.
void KnownBatch::stop_what_runs() {
  std::vector<CaseRun*> runs;
  for (const auto& [index, run] : running_) runs.push_back(run.get());
  for (CaseRun* const run : runs) run->stop();
}

void KnownBatch::begin_drain() {
  note_drain();
  advance();
}

void KnownBatch::note_drain() {
  if (!std::exchange(is_stopping_, true)) why_skipped_ = "the service is being stopped";
}

void KnownBatch::finish() {
  for (auto& [index, outcome] : std::exchange(held_, {})) tell_case(index, std::move(outcome));
  for (std::size_t i = 0; i < count_; ++i) {
    if (lines_[i] == 0) tell_case(i, {Verdict::skipped, why_skipped_, std::nullopt, std::nullopt});
  }
  if (status_ == "running") status_ = is_stopping_ ? "stopped" : "finished";
  duration_ = since_begun();
  note_end();
  log_.events().on_event("batch", head_members());
  std::shared_ptr<BatchPlan> over = std::make_shared<BatchPlan>(std::exchange(plan_, BatchPlan()));
  loop_.post([over = std::move(over)] {});
  tell();
  listener_.on_ended(*this);
}

std::chrono::microseconds KnownBatch::since_begun() const {
  if (state_ == WorkState::queued) return std::chrono::microseconds(0);
  return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begun_at_);
}

std::string KnownBatch::head_members() const {
  json::object head = {
      {"schema_version", 1},
      {"id", to_json_text(id_)},
      {"status", status_},
      {"language", nullptr},
      {"summary",
       {{"passed", passed_},
        {"total", count_},
        {"first_failed", nullptr},
        {"wrong_answer", wrong_},
        {"run_failed", failed_},
        {"skipped", skipped_}}},
      {"queued_ms", milliseconds(queued_)},
      {"duration_ms", milliseconds(state_ == WorkState::ended ? duration_ : since_begun())},
      {"error", to_json_text(unready_.error)},
      {"error_type", nullptr},
      {"error_message", nullptr},
      {"hint", to_json_text(unready_.hint)}};
  if (language_) head["language"] = to_json_text(*language_);
  if (first_failed_) head["summary"].as_object()["first_failed"] = *first_failed_;
  if (unready_.error_type) head["error_type"] = to_json_text(*unready_.error_type);
  if (unready_.error_message) head["error_message"] = to_json_text(*unready_.error_message);
  head["compile"] = stage_value(compile_);
  head["install"] = stage_value(install_);
  const std::string text = json::serialize(head);
  return text.substr(1, text.size() - 2);
}

std::string KnownBatch::record() const {
  std::string text = "{" + head_members() + ",\"cases\":[";
  bool is_first = true;
  for (const std::uint64_t number : lines_) {
    if (number == 0) continue;
    const std::string_view line = log_.line(number);
    if (!std::exchange(is_first, false)) text += ",";
    text += "{";
    text += line.substr(line.find("\"index\":"));
    text.pop_back();  // the line break
  }
  return text + "]}\n";
}

}  // namespace wardcase::supervisor
