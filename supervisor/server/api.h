// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <optional>

#include "supervisor/server/batch_handlers.h"
#include "supervisor/server/exchange.h"
#include "supervisor/server/host_handlers.h"
#include "supervisor/server/http_codec.h"
#include "supervisor/server/run_handlers.h"
#include "supervisor/server/service_handlers.h"
#include "supervisor/server/session_file_handlers.h"
#include "supervisor/server/session_handlers.h"

namespace wardcase::supervisor {

// What each path answers: one table of routes, whose handlers stand in files of their own.
class Api {
 public:
  Api(EventLoop& loop, const Host& host, const ServiceConfiguration& configuration, Quotas& quotas,
      RunRegistry& runs, BatchRegistry& batches, SessionRegistry& sessions, RunQueue& queue,
      Readiness& readiness, Telemetry& telemetry)
      : configuration_(configuration),
        service_(readiness, telemetry),
        runs_(host, configuration, quotas, runs, queue),
        batches_(host, configuration, quotas, batches, queue),
        sessions_(loop, host, configuration, quotas, sessions, runs),
        files_(loop, sessions),
        host_(loop, host, configuration) {}

  // What who may not ask for this is told; nullopt: he may.
  [[nodiscard]] std::optional<HttpResponse> refuse(const HttpRequest& head, const Peer& peer) const;
  // Has the request answered, at once or later.
  void handle(const HttpRequest& request, Exchange& exchange);
  // No run begins any more.
  void begin_drain();

 private:
  const ServiceConfiguration& configuration_;
  ServiceHandlers service_;
  RunHandlers runs_;
  BatchHandlers batches_;
  SessionHandlers sessions_;
  SessionFileHandlers files_;
  HostHandlers host_;
};

}  // namespace wardcase::supervisor
