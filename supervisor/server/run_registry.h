// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "supervisor/server/known_run.h"
#include "supervisor/server/run_store.h"
#include "supervisor/server/work_registry.h"

namespace wardcase::supervisor {

// All runs that the service knows, but for those of batches.
class RunRegistry {
 public:
  using Most = WorkRegistry::Most;

  RunRegistry(EventLoop& loop, RunQueue& queue, Most most)
      : loop_(loop), queue_(queue), runs_(loop, most) {}
  RunRegistry(const RunRegistry&) = delete;
  RunRegistry& operator=(const RunRegistry&) = delete;

  enum class Refusal : std::uint8_t { queue_full, not_stored, not_made };

  // What is returned stays at least until the loop turns.
  [[nodiscard]] tl::expected<KnownRun*, Refusal> begin(Job job, std::uint64_t bytes,
                                                       RunTerms terms);
  // From now on, all that is known outlives the service; and what had outlived one before is
  // known again.
  void keep_in(std::unique_ptr<RunStore> store);
  // One that is done elsewhere, by what `make` gives for it. `not_made`: that gave nothing.
  using MakeWork = std::function<std::unique_ptr<OtherWork>(KnownRun& run)>;
  [[nodiscard]] tl::expected<KnownRun*, Refusal> begin_elsewhere(RunRecord waiting, RunTerms terms,
                                                                 const MakeWork& make);
  void stop_elsewhere();
  // One that could not begin, and has ended already.
  [[nodiscard]] KnownRun& keep(const RunRecord& record, RunTerms terms);

  // As a WorkRegistry's.
  [[nodiscard]] KnownRun* find(std::string_view id, const Caller& caller) const;
  [[nodiscard]] KnownRun* find_key(std::string_view key, const std::string& owner) const;
  [[nodiscard]] std::vector<const KnownWork*> list(const Caller& caller) const {
    return runs_.list(caller);
  }

  using Told = std::function<void(const KnownRun& run, const RunRecord& record)>;
  // Called with each record.
  void on_record(Told told) { told_ = std::move(told); }
  // Called with what could not be kept for a life after this one.
  void on_trouble(std::function<void(const sys::Error& error)> trouble) {
    trouble_ = std::move(trouble);
  }

 private:
  [[nodiscard]] std::unique_ptr<KnownRun> make(RunTerms terms);
  void restore(const RunStore::Found& found);
  void on_ended(const KnownRun& run, const RunRecord* record);
  [[nodiscard]] tl::expected<KnownRun*, Refusal> stored_or_stopped(KnownRun& run);
  [[nodiscard]] bool is_stored(const KnownRun& run);

  EventLoop& loop_;
  RunQueue& queue_;
  WorkRegistry runs_;  // holds nothing but runs
  std::set<KnownRun*> elsewhere_;
  Told told_ = [](const KnownRun&, const RunRecord&) {};
  std::function<void(const sys::Error& error)> trouble_ = [](const sys::Error&) {};
  std::unique_ptr<RunStore> store_;
};

}  // namespace wardcase::supervisor
