// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "supervisor/run/event_loop.h"
#include "supervisor/server/keeper_link.h"
#include "supervisor/server/keeper_process.h"
#include "supervisor/server/session_facts.h"

namespace wardcase::supervisor {

// A session that the service was asked for. What lives of it is its keeper, another process.
class KnownSession {
 public:
  // `ended` is called once, in a later turn, when the keeper has gone; it may not destroy this.
  KnownSession(EventLoop& loop, SessionFacts facts, std::string socket,
               std::function<void()> ended);
  KnownSession(const KnownSession&) = delete;
  KnownSession& operator=(const KnownSession&) = delete;

  // Has a keeper started, as KeeperProcess does; then it is to be watched.
  [[nodiscard]] sys::Status make(std::string_view request, KeeperProcess::Made made);
  // Sees to it that the end of the keeper is noticed. Fails where there is none.
  [[nodiscard]] sys::Status watch();

  [[nodiscard]] const SessionFacts& facts() const { return facts_; }
  [[nodiscard]] const std::string& socket() const { return socket_; }
  [[nodiscard]] bool is_made() const { return is_made_; }
  // Programs of its clients that were sent to the keeper and have not ended. They share the number
  // with it, as one may hear of its end after the session has gone.
  [[nodiscard]] const std::shared_ptr<std::size_t>& programs() const { return programs_; }
  // It is known no more, and calls nobody back.
  void leave() { is_gone_ = true; }

 private:
  EventLoop& loop_;
  SessionFacts facts_;
  std::string socket_;
  std::function<void()> ended_;
  std::unique_ptr<KeeperProcess> maker_;
  KeeperLink watch_;
  std::shared_ptr<std::size_t> programs_ = std::make_shared<std::size_t>(0);
  bool is_made_ = false;
  bool is_gone_ = false;
};

}  // namespace wardcase::supervisor
