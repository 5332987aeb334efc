// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

#include "supervisor/server/known_batch.h"
#include "supervisor/server/problem.h"
#include "supervisor/server/work_registry.h"

namespace wardcase::supervisor {

// All batches that the service knows.
class BatchRegistry {
 public:
  BatchRegistry(EventLoop& loop, RunQueue& queue, WorkRegistry::Most most)
      : loop_(loop), queue_(queue), batches_(loop, most) {}
  BatchRegistry(const BatchRegistry&) = delete;
  BatchRegistry& operator=(const BatchRegistry&) = delete;

  // What is returned stays at least until the loop turns. Refused: there is no room.
  [[nodiscard]] tl::expected<KnownBatch*, Problem> begin(BatchPlan plan, RunTerms terms);

  // As a WorkRegistry's.
  [[nodiscard]] KnownWork* find(std::string_view id, const Caller& caller) const {
    return batches_.find(id, caller);
  }
  [[nodiscard]] KnownWork* find_key(std::string_view key, const std::string& owner) const {
    return batches_.find_key(key, owner);
  }
  // Nothing of any batch begins from now on.
  void begin_drain();

  // Called with each case's record.
  using Told = std::function<void(const KnownBatch& batch, const RunRecord& record)>;
  void on_record(Told told) { told_ = std::move(told); }

 private:
  [[nodiscard]] bool has_room_for(std::uint64_t bytes, const std::string& owner) const;
  void on_ended(const KnownBatch& batch);

  EventLoop& loop_;
  RunQueue& queue_;
  WorkRegistry batches_;
  std::map<std::string, KnownBatch*, std::less<>> living_;  // by id
  std::map<std::string, std::uint64_t> held_;               // by those, by owner
  Told told_ = [](const KnownBatch&, const RunRecord&) {};
};

}  // namespace wardcase::supervisor
