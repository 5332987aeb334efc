// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <boost/json/object.hpp>
#include <vector>

#include "supervisor/server/exchange.h"
#include "supervisor/server/known_session.h"

namespace wardcase::supervisor {

// What a session is told as.

// Of a new one, or one whose keeper says nothing.
[[nodiscard]] boost::json::object summary_of(const KnownSession& session);
// With what its keeper tells.
[[nodiscard]] boost::json::object state_of(const SessionFacts& facts,
                                           const boost::json::object& told);

// Answers when its keeper has; or when those of all have, or two seconds are over.
void tell_state(EventLoop& loop, Exchange& exchange, const KnownSession& session);
void tell_states(EventLoop& loop, Exchange& exchange, const std::vector<KnownSession*>& sessions);

}  // namespace wardcase::supervisor
