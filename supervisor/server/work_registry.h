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
#include <utility>
#include <vector>

#include "supervisor/run/event_loop.h"
#include "supervisor/server/caller.h"
#include "supervisor/server/known_work.h"

namespace wardcase::supervisor {

// What the service knows of one kind: what waits, what is under way, and for a while what has
// ended. Of what is not a caller's it says nothing at all.
class WorkRegistry {
 public:
  // Of what has ended. The oldest goes first, but nothing that is being read.
  struct Most {
    std::size_t kept = 1000;
    std::uint64_t bytes = 64 << 20;  // of what it holds
    std::chrono::milliseconds age{3'600'000};
  };

  WorkRegistry(EventLoop& loop, Most most) : loop_(loop), most_(most) {}
  WorkRegistry(const WorkRegistry&) = delete;
  WorkRegistry& operator=(const WorkRegistry&) = delete;
  ~WorkRegistry();

  // It has begun, or has ended already. It stays at least until the loop turns.
  void keep(std::unique_ptr<KnownWork> work);
  // To be called at the end of what is kept.
  void on_ended(const KnownWork& work);

  [[nodiscard]] bool knows(const KnownWork& work) const { return by_id_.contains(work.id()); }
  // Called with what is kept no longer.
  void on_forgotten(std::function<void(const KnownWork& work)> told) { told_ = std::move(told); }

  // nullptr: the caller has none of that id.
  [[nodiscard]] KnownWork* find(std::string_view id, const Caller& caller) const;
  // The one that this caller has asked for under this key.
  [[nodiscard]] KnownWork* find_key(std::string_view key, const std::string& owner) const;
  // In the order in which it was asked for.
  [[nodiscard]] std::vector<const KnownWork*> list(const Caller& caller) const;

 private:
  void forget_old();
  [[nodiscard]] bool has_to_go(const KnownWork& oldest) const;

  EventLoop& loop_;
  Most most_;
  std::map<std::uint64_t, std::unique_ptr<KnownWork>> works_;  // by their order
  std::deque<std::uint64_t> ended_;                            // by the order of their ends
  std::uint64_t ended_bytes_ = 0;
  std::map<std::string, std::uint64_t, std::less<>> by_id_;
  std::map<std::pair<std::string, std::string>, std::uint64_t> by_key_;
  std::uint64_t next_ = 1;
  std::function<void(const KnownWork& work)> told_ = [](const KnownWork&) {};
  EventLoop::TimerId timer_ = 0;
};

}  // namespace wardcase::supervisor
