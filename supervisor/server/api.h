// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

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
  Api(EventLoop& loop, const Host& host, RunRegistry& registry, RunQueue& queue,
      SessionRegistry& sessions, Readiness& readiness, Telemetry& telemetry)
      : service_(readiness, telemetry),
        runs_(host, registry, queue),
        sessions_(loop, host, sessions, registry),
        files_(loop, sessions),
        host_(loop, host) {}

  // Has the request answered, at once or later.
  void handle(const HttpRequest& request, Exchange& exchange);
  // No run begins any more.
  void begin_drain();

 private:
  ServiceHandlers service_;
  RunHandlers runs_;
  SessionHandlers sessions_;
  SessionFileHandlers files_;
  HostHandlers host_;
};

}  // namespace wardcase::supervisor
