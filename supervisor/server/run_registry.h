// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "supervisor/run/event_loop.h"
#include "supervisor/server/caller.h"
#include "supervisor/server/known_run.h"
#include "supervisor/server/run_store.h"

namespace wardcase::supervisor {

// All runs that the service knows: those that wait, those that run, and for a while those that
// have ended. Of a run that somebody may not see it says nothing at all.
class RunRegistry {
 public:
  // Of those that have ended. The oldest go first, but none that is being read.
  struct Most {
    std::size_t kept = 1000;
    std::uint64_t bytes = 64 << 20;  // of what they hold
    std::chrono::milliseconds age{3'600'000};
  };

  RunRegistry(EventLoop& loop, RunQueue& queue, Most most);
  RunRegistry(const RunRegistry&) = delete;
  RunRegistry& operator=(const RunRegistry&) = delete;
  ~RunRegistry();

  enum class Refusal : std::uint8_t { queue_full, not_stored };

  // What is returned stays at least until the loop turns.
  [[nodiscard]] tl::expected<KnownRun*, Refusal> begin(Job job, std::uint64_t bytes,
                                                       RunTerms terms);
  // From now on, all that is known outlives the service; and what had outlived one before is
  // known again.
  void keep_in(std::unique_ptr<RunStore> store);
  // One that is done elsewhere, by what `make` gives for it. nullptr: that gave nothing.
  using MakeWork = std::function<std::unique_ptr<OtherWork>(KnownRun& run)>;
  [[nodiscard]] KnownRun* begin_elsewhere(RunRecord waiting, RunTerms terms, const MakeWork& make);
  void stop_elsewhere();
  // One that could not begin, and has ended already.
  [[nodiscard]] KnownRun& keep(const RunRecord& record, RunTerms terms);

  // nullptr: the caller has none of that id.
  [[nodiscard]] KnownRun* find(std::string_view id, const Caller& caller) const;
  // The one that this caller has asked for under this key.
  [[nodiscard]] KnownRun* find_key(std::string_view key, const std::string& owner) const;
  // In the order in which they were asked for.
  [[nodiscard]] std::vector<const KnownRun*> list(const Caller& caller) const;

  using Told = std::function<void(const KnownRun& run, const RunRecord& record)>;
  // Called with each record.
  void on_record(Told told) { told_ = std::move(told); }
  // Called with what could not be kept for a life after this one.
  void on_trouble(std::function<void(const sys::Error& error)> trouble) {
    trouble_ = std::move(trouble);
  }

 private:
  KnownRun& make(RunTerms terms);
  void index(std::uint64_t order);
  void restore(const RunStore::Found& found);
  void on_ended(std::uint64_t order, const RunRecord* record);
  void take_end(std::uint64_t order);
  [[nodiscard]] bool is_stored(const KnownRun& run);
  void forget_old_ones();
  [[nodiscard]] bool has_to_go(const KnownRun& oldest) const;

  EventLoop& loop_;
  RunQueue& queue_;
  Most most_;
  std::map<std::uint64_t, std::unique_ptr<KnownRun>> runs_;  // by their order
  std::deque<std::uint64_t> ended_;                          // by the order of their ends
  std::uint64_t ended_bytes_ = 0;
  std::map<std::string, std::uint64_t, std::less<>> by_id_;
  std::map<std::pair<std::string, std::string>, std::uint64_t> by_key_;
  std::uint64_t next_ = 1;
  Told told_ = [](const KnownRun&, const RunRecord&) {};
  std::function<void(const sys::Error& error)> trouble_ = [](const sys::Error&) {};
  std::unique_ptr<RunStore> store_;
  EventLoop::TimerId timer_ = 0;
};

}  // namespace wardcase::supervisor
