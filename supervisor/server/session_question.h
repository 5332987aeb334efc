// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <boost/json/object.hpp>
#include <functional>

#include "supervisor/server/exchange.h"
#include "supervisor/server/keeper_link.h"
#include "supervisor/server/known_session.h"
#include "supervisor/server/problem.h"

namespace wardcase::supervisor {

// One question to a session's keeper, whose last frame makes the answer of a request.
class SessionQuestion : public PendingAnswer {
 public:
  using Answer = std::function<HttpResponse(const boost::json::object& last)>;

  // `answer` is asked where all went well.
  SessionQuestion(EventLoop& loop, Exchange& exchange, Answer answer);

  // False: it was answered already, as nobody keeps the session any more.
  [[nodiscard]] bool ask(const KnownSession& session, const KeeperRequest& request);

 private:
  void on_last(const boost::json::object* last);

  Exchange& exchange_;
  Answer answer_;
  KeeperLinkOwner link_;
};

// Asks, and has the exchange hold the question until it is answered.
void ask_keeper(EventLoop& loop, Exchange& exchange, const KnownSession& session,
                const KeeperRequest& request, SessionQuestion::Answer answer);

[[nodiscard]] Problem no_such_session();
// What a keeper says that it could not do; of files by errno.
[[nodiscard]] Problem refusal_of(const boost::json::object& last);

}  // namespace wardcase::supervisor
