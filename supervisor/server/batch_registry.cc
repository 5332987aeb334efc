// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/batch_registry.h"

#include <vector>

#include "supervisor/server/api_call.h"

namespace wardcase::supervisor {

namespace {

// Of all batches that have not ended; one caller may have half of it.
constexpr std::uint64_t kMostHeld = 1 << 30;

}  // namespace

bool BatchRegistry::has_room_for(std::uint64_t bytes, const std::string& owner) const {
  std::uint64_t all = bytes;
  for (const auto& [each, held] : held_) all += held;
  const auto own = held_.find(owner);
  return all <= kMostHeld && (own == held_.end() ? 0 : own->second) + bytes <= kMostHeld / 2;
}

tl::expected<KnownBatch*, Problem> BatchRegistry::begin(BatchPlan plan, RunTerms terms) {
  const std::uint64_t bytes = plan.bytes;
  const Problem full = {429, "queue_full", "too many batches are under way", "", kRetrySeconds};
  if (!has_room_for(bytes, terms.owner)) return tl::unexpected(full);
  auto batch = std::make_unique<KnownBatch>(
      loop_, queue_, std::move(terms), std::move(plan),
      KnownBatch::Listener{
          [this](const KnownBatch& of, const RunRecord& record) { told_(of, record); },
          [this](const KnownBatch& ended) { on_ended(ended); }});
  const auto begun = batch->begin();
  if (!begun) {
    return tl::unexpected(Problem{503, "too_busy", begun.error().message(), "", kRetrySeconds});
  }
  if (!*begun) return tl::unexpected(full);
  KnownBatch* const kept = batch.get();
  living_[kept->id()] = kept;
  held_[kept->terms().owner] += bytes;
  batches_.keep(std::move(batch));
  return kept;
}

void BatchRegistry::on_ended(const KnownBatch& batch) {
  living_.erase(batch.id());
  auto& held = held_.at(batch.terms().owner);
  held -= batch.bytes();
  if (held == 0) held_.erase(batch.terms().owner);
  batches_.on_ended(batch);
}

void BatchRegistry::begin_drain() {
  std::vector<KnownBatch*> all;  // one may end, and go from the map, while it is told
  for (const auto& [id, batch] : living_) all.push_back(batch);
  for (KnownBatch* const batch : all) batch->begin_drain();
}

}  // namespace wardcase::supervisor
