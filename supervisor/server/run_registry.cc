// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/run_registry.h"

#include <algorithm>

#include "supervisor/server/stored_run.h"

namespace wardcase::supervisor {

RunRegistry::RunRegistry(EventLoop& loop, RunQueue& queue, Most most)
    : loop_(loop), queue_(queue), most_(most) {}

RunRegistry::~RunRegistry() { loop_.cancel(timer_); }

KnownRun& RunRegistry::make(RunTerms terms) {
  const std::uint64_t order = next_++;
  auto& run = runs_[order];
  run = std::make_unique<KnownRun>(
      loop_, queue_, std::move(terms),
      [this, order](const RunRecord* record) { on_ended(order, record); });
  return *run;
}

void RunRegistry::index(std::uint64_t order) {
  const KnownRun& run = *runs_.at(order);
  by_id_[run.id()] = order;
  if (!run.terms().key.empty()) by_key_[{run.terms().owner, run.terms().key}] = order;
}

tl::expected<KnownRun*, RunRegistry::Refusal> RunRegistry::begin(Job job, std::uint64_t bytes,
                                                                 RunTerms terms) {
  const std::uint64_t order = next_;
  KnownRun& run = make(std::move(terms));
  if (!run.begin(std::move(job), bytes)) {
    runs_.erase(order);
    return tl::unexpected(Refusal::queue_full);
  }
  index(order);
  if (is_stored(run) || !run.terms().is_detached) return &run;
  run.stop();  // nobody would learn what became of it
  return tl::unexpected(Refusal::not_stored);
}

bool RunRegistry::is_stored(const KnownRun& run) {
  if (store_ == nullptr) return true;
  const auto accepted = store_->accept(run.id(), accepted_part(run));
  if (!accepted) trouble_(accepted.error());
  return accepted.has_value();
}

void RunRegistry::keep_in(std::unique_ptr<RunStore> store) {
  store_ = std::move(store);
  for (const RunStore::Found& found : store_->take_found()) restore(found);
  forget_old_ones();
}

void RunRegistry::restore(const RunStore::Found& found) {
  auto past = read_past_run(found);
  if (!past) return store_->forget(found.id);
  const std::uint64_t order = next_;
  const bool has_ended = past->end.has_value();
  KnownRun& run = make(past->terms);
  run.restore(*std::move(past));
  index(order);
  if (has_ended) take_end(order);
}

KnownRun* RunRegistry::begin_elsewhere(RunRecord waiting, RunTerms terms,
                                       const MakeWork& make_work) {
  const std::uint64_t order = next_;
  KnownRun& run = make(std::move(terms));
  auto work = make_work(run);
  if (work == nullptr) {
    runs_.erase(order);
    return nullptr;
  }
  run.begin_elsewhere(std::move(waiting), std::move(work));
  index(order);
  return &run;
}

void RunRegistry::stop_elsewhere() {
  for (const auto& [order, run] : runs_) {
    if (run->is_elsewhere()) run->stop();
  }
}

KnownRun& RunRegistry::keep(const RunRecord& record, RunTerms terms) {
  const std::uint64_t order = next_;
  KnownRun& run = make(std::move(terms));
  run.end_with(record);
  index(order);
  return run;
}

KnownRun* RunRegistry::find(std::string_view id, const Caller& caller) const {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return nullptr;
  KnownRun* const run = runs_.at(found->second).get();
  return caller.may_see(run->terms().owner) ? run : nullptr;
}

KnownRun* RunRegistry::find_key(std::string_view key, const std::string& owner) const {
  const auto found = by_key_.find({owner, std::string(key)});
  return found == by_key_.end() ? nullptr : runs_.at(found->second).get();
}

std::vector<const KnownRun*> RunRegistry::list(const Caller& caller) const {
  std::vector<const KnownRun*> seen;
  for (const auto& [order, run] : runs_) {
    if (caller.may_see(run->terms().owner)) seen.push_back(run.get());
  }
  return seen;
}

void RunRegistry::on_ended(std::uint64_t order, const RunRecord* record) {
  const KnownRun& run = *runs_.at(order);
  if (!by_id_.contains(run.id())) (void)is_stored(run);  // it had ended before it was known
  if (store_ != nullptr) {
    const RunLog& log = run.log();
    const auto kept = store_->end(run.id(), ended_part(run), log.line(log.newest()));
    if (!kept) trouble_(kept.error());
  }
  take_end(order);
  if (record != nullptr) told_(run, *record);
}

// Who is told of the end, and who has just asked, still look at the run: none goes in this turn.
void RunRegistry::take_end(std::uint64_t order) {
  ended_.push_back(order);
  ended_bytes_ += runs_.at(order)->log().bytes();
  loop_.cancel(timer_);
  timer_ = loop_.at(Clock::now(), [this] { forget_old_ones(); });
}

bool RunRegistry::has_to_go(const KnownRun& oldest) const {
  return ended_.size() > most_.kept || ended_bytes_ > most_.bytes ||
         oldest.ended_at() + most_.age <= Clock::now();
}

void RunRegistry::forget_old_ones() {
  timer_ = 0;
  while (true) {
    const auto oldest = std::ranges::find_if(
        ended_, [this](std::uint64_t order) { return !runs_.at(order)->has_readers(); });
    if (oldest == ended_.end() || !has_to_go(*runs_.at(*oldest))) break;
    const auto gone = runs_.extract(*oldest);
    const KnownRun& run = *gone.mapped();
    ended_bytes_ -= run.log().bytes();
    if (store_ != nullptr) store_->forget(run.id());
    by_id_.erase(run.id());
    const auto key = by_key_.find({run.terms().owner, run.terms().key});
    if (key != by_key_.end() && key->second == gone.key()) by_key_.erase(key);
    ended_.erase(oldest);
  }
  if (ended_.empty()) return;
  constexpr std::chrono::seconds kSoonest{1};  // what is being read goes later
  const auto due = runs_.at(ended_.front())->ended_at() + most_.age;
  timer_ = loop_.at(std::max(due, Clock::now() + kSoonest), [this] { forget_old_ones(); });
}

}  // namespace wardcase::supervisor
