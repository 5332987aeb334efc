// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "supervisor/run/event_loop.h"
#include "supervisor/server/caller.h"
#include "supervisor/server/known_session.h"
#include "supervisor/server/problem.h"
#include "supervisor/server/quotas.h"
#include "supervisor/server/run_queue.h"
#include "supervisor/server/session_facts.h"

namespace wardcase::supervisor {

// All sessions of the service. An id is its owner's: of those of others nobody but an administrator
// learns anything. Memory that they may have is promised to them as long as they live.
class SessionRegistry {
 public:
  struct Most {
    std::size_t sessions = 64;
  };

  SessionRegistry(EventLoop& loop, RunQueue& queue, SessionPlaces places, Most most)
      : loop_(loop), queue_(queue), places_(std::move(places)), most_(most) {}
  SessionRegistry(const SessionRegistry&) = delete;
  SessionRegistry& operator=(const SessionRegistry&) = delete;
  ~SessionRegistry();

  // Those of a service that was here before, and whose keepers live; of the others nothing is left.
  void find_again();

  // Why another one can't be made; nullopt: it can.
  [[nodiscard]] std::optional<Problem> refuse(const SessionFacts& facts) const;
  // Has it made. `told`: once it can be used (nullptr), or why there is no such session. Neither is
  // called after abandon().
  using Told = std::function<void(KnownSession& session, const Problem* why_not)>;
  [[nodiscard]] tl::expected<KnownSession*, Problem> make(SessionFacts facts,
                                                          std::string_view request, Told told);
  // Nobody waits for it any more: what is not made by now does not come to be.
  void abandon(KnownSession& session);
  // It has ended, and its name is free.
  void forget(KnownSession& session);

  // The one of that owner. nullptr: there is none that can be used.
  [[nodiscard]] KnownSession* find(const std::string& owner, std::string_view id) const;
  // The caller's own; for an administrator also the only one of that id.
  [[nodiscard]] KnownSession* find(std::string_view id, const Caller& caller) const;
  [[nodiscard]] std::vector<KnownSession*> list(const Caller& caller) const;

  // Of those that owner has.
  [[nodiscard]] SessionSums sums_of(const std::string& owner) const;
  [[nodiscard]] bool is_empty() const { return sessions_.empty(); }
  // Ends all, once nothing is under way in them; `changed` is called with each that has gone.
  void drain(std::function<void()> changed);
  // A program has ended somewhere.
  void after_program();

 private:
  using Key = std::pair<std::string, std::string>;  // owner, id

  KnownSession& add(SessionFacts facts);
  void on_made(const Key& key, const std::string& why_not, const Told& told);
  void close(KnownSession& session);
  void close_idle_ones();

  EventLoop& loop_;
  RunQueue& queue_;
  SessionPlaces places_;
  Most most_;
  std::map<Key, std::unique_ptr<KnownSession>> sessions_;
  std::map<KnownSession*, KeeperLinkOwner> closing_;
  std::function<void()> changed_;
  bool is_draining_ = false;
};

}  // namespace wardcase::supervisor
