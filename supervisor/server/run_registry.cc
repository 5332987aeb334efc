// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/run_registry.h"

#include <utility>

#include "supervisor/server/stored_run.h"

namespace wardcase::supervisor {

std::unique_ptr<KnownRun> RunRegistry::make(RunTerms terms) {
  return std::make_unique<KnownRun>(
      loop_, queue_, std::move(terms),
      [this](const KnownRun& run, const RunRecord* record) { on_ended(run, record); });
}

tl::expected<KnownRun*, RunRegistry::Refusal> RunRegistry::begin(Job job, std::uint64_t bytes,
                                                                 RunTerms terms) {
  auto begun = make(std::move(terms));
  if (!begun->begin(std::move(job), bytes)) return tl::unexpected(Refusal::queue_full);
  KnownRun& run = *begun;
  runs_.keep(std::move(begun));
  return stored_or_stopped(run);
}

tl::expected<KnownRun*, RunRegistry::Refusal> RunRegistry::stored_or_stopped(KnownRun& run) {
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
  runs_.on_forgotten([this](const KnownWork& run) { store_->forget(run.id()); });
  for (const RunStore::Found& found : store_->take_found()) restore(found);
}

void RunRegistry::restore(const RunStore::Found& found) {
  auto past = read_past_run(found);
  if (!past) return store_->forget(found.id);
  auto run = make(past->terms);
  run->restore(*std::move(past));
  runs_.keep(std::move(run));
}

tl::expected<KnownRun*, RunRegistry::Refusal> RunRegistry::begin_elsewhere(
    RunRecord waiting, RunTerms terms, const MakeWork& make_work) {
  auto begun = make(std::move(terms));
  auto work = make_work(*begun);
  if (work == nullptr) return tl::unexpected(Refusal::not_made);
  begun->begin_elsewhere(std::move(waiting), std::move(work));
  KnownRun& run = *begun;
  runs_.keep(std::move(begun));
  elsewhere_.insert(&run);
  return stored_or_stopped(run);
}

void RunRegistry::stop_elsewhere() {
  const auto runs = elsewhere_;  // one may end while it is told
  for (KnownRun* const run : runs) run->stop();
}

KnownRun& RunRegistry::keep(const RunRecord& record, RunTerms terms) {
  auto run = make(std::move(terms));
  run->end_with(record);
  KnownRun& kept = *run;
  runs_.keep(std::move(run));
  return kept;
}

void RunRegistry::on_ended(const KnownRun& run, const RunRecord* record) {
  const bool is_known = runs_.knows(run);
  std::erase_if(elsewhere_, [&run](const KnownRun* each) { return each == &run; });
  if (!is_known) (void)is_stored(run);  // it had ended before it was known
  if (store_ != nullptr) {
    const RunLog& log = run.log();
    const auto kept = store_->end(run.id(), ended_part(run), log.line(log.newest()));
    if (!kept) trouble_(kept.error());
  }
  if (is_known) runs_.on_ended(run);
  if (record != nullptr) told_(run, *record);
}

KnownRun* RunRegistry::find(std::string_view id, const Caller& caller) const {
  return static_cast<KnownRun*>(runs_.find(id, caller));
}

KnownRun* RunRegistry::find_key(std::string_view key, const std::string& owner) const {
  return static_cast<KnownRun*>(runs_.find_key(key, owner));
}

}  // namespace wardcase::supervisor
