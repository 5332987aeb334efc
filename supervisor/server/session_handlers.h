// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>

#include "supervisor/run/host.h"
#include "supervisor/server/api_call.h"
#include "supervisor/server/quotas.h"
#include "supervisor/server/run_registry.h"
#include "supervisor/server/run_request.h"
#include "supervisor/server/service_configuration.h"
#include "supervisor/server/session_registry.h"

namespace wardcase::supervisor {

// /v1/sessions and what is below it, but for files.
class SessionHandlers {
 public:
  SessionHandlers(EventLoop& loop, const Host& host, const ServiceConfiguration& configuration,
                  Quotas& quotas, SessionRegistry& sessions, RunRegistry& runs)
      : loop_(loop),
        host_(host),
        configuration_(configuration),
        quotas_(quotas),
        sessions_(sessions),
        runs_(runs) {}

  void create(const ApiCall& call);
  void list(const ApiCall& call);
  void show(const ApiCall& call);
  void extend(const ApiCall& call);
  void remove(const ApiCall& call);
  void exec(const ApiCall& call);
  void interrupt(const ApiCall& call);
  void input(const ApiCall& call);
  void reset(const ApiCall& call);

  // Programs that run in sessions are stopped.
  void begin_drain();

 private:
  [[nodiscard]] tl::expected<KnownWork*, Problem> make_run(const KnownSession& session,
                                                           RunRequest asked, RunTerms terms);
  void order(const ApiCall& call, std::string op);

  EventLoop& loop_;
  const Host& host_;
  const ServiceConfiguration& configuration_;
  Quotas& quotas_;
  SessionRegistry& sessions_;
  RunRegistry& runs_;
  bool is_draining_ = false;
};

// The session that the path names; nullptr: the caller has none of that id, which he was told.
// Administrators say ?owner= where several have one.
[[nodiscard]] KnownSession* find_session(const SessionRegistry& sessions, const ApiCall& call);

}  // namespace wardcase::supervisor
