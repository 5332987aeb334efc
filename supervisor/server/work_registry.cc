// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/work_registry.h"

#include <algorithm>

namespace wardcase::supervisor {

WorkRegistry::~WorkRegistry() { loop_.cancel(timer_); }

void WorkRegistry::keep(std::unique_ptr<KnownWork> work) {
  const KnownWork& kept = *work;
  const std::uint64_t order = next_++;
  works_[order] = std::move(work);
  by_id_[kept.id()] = order;
  if (!kept.terms().key.empty()) by_key_[{kept.terms().owner, kept.terms().key}] = order;
  if (kept.state() == WorkState::ended) on_ended(kept);
}

KnownWork* WorkRegistry::find(std::string_view id, const Caller& caller) const {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return nullptr;
  KnownWork* const work = works_.at(found->second).get();
  return caller.may_see(work->terms().owner) ? work : nullptr;
}

KnownWork* WorkRegistry::find_key(std::string_view key, const std::string& owner) const {
  const auto found = by_key_.find({owner, std::string(key)});
  return found == by_key_.end() ? nullptr : works_.at(found->second).get();
}

std::vector<const KnownWork*> WorkRegistry::list(const Caller& caller) const {
  std::vector<const KnownWork*> seen;
  for (const auto& [order, work] : works_) {
    if (caller.may_see(work->terms().owner)) seen.push_back(work.get());
  }
  return seen;
}

// Who is told of the end, and who has just asked, still look at it: none goes in this turn.
void WorkRegistry::on_ended(const KnownWork& work) {
  ended_.push_back(by_id_.at(work.id()));
  ended_bytes_ += work.log().bytes();
  loop_.cancel(timer_);
  timer_ = loop_.at(Clock::now(), [this] { forget_old(); });
}

bool WorkRegistry::has_to_go(const KnownWork& oldest) const {
  return ended_.size() > most_.kept || ended_bytes_ > most_.bytes ||
         oldest.ended_at() + most_.age <= Clock::now();
}

void WorkRegistry::forget_old() {
  timer_ = 0;
  while (true) {
    const auto oldest = std::ranges::find_if(
        ended_, [this](std::uint64_t order) { return !works_.at(order)->has_readers(); });
    if (oldest == ended_.end() || !has_to_go(*works_.at(*oldest))) break;
    const auto gone = works_.extract(*oldest);
    const KnownWork& work = *gone.mapped();
    ended_bytes_ -= work.log().bytes();
    told_(work);
    by_id_.erase(work.id());
    const auto key = by_key_.find({work.terms().owner, work.terms().key});
    if (key != by_key_.end() && key->second == gone.key()) by_key_.erase(key);
    ended_.erase(oldest);
  }
  if (ended_.empty()) return;
  constexpr std::chrono::seconds kSoonest{1};  // what is being read goes later
  const auto due = works_.at(ended_.front())->ended_at() + most_.age;
  timer_ = loop_.at(std::max(due, Clock::now() + kSoonest), [this] { forget_old(); });
}

}  // namespace wardcase::supervisor
