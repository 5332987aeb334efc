// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include "supervisor/server/batch_handlers.h"
#include "supervisor/server/exchange.h"
#include "supervisor/server/host_handlers.h"
#include "supervisor/server/http_codec.h"
#include "supervisor/server/run_handlers.h"
#include "supervisor/server/service_handlers.h"

namespace wardcase::supervisor {

// What each path answers: one table of routes, whose handlers stand in files of their own.
class Api {
 public:
  Api(EventLoop& loop, const Host& host, RunRegistry& runs, BatchRegistry& batches, RunQueue& queue,
      Readiness& readiness, Telemetry& telemetry)
      : service_(readiness, telemetry),
        runs_(host, runs, queue),
        batches_(host, batches, queue),
        host_(loop, host) {}

  // Has the request answered, at once or later.
  void handle(const HttpRequest& request, Exchange& exchange);
  // No run begins any more.
  void begin_drain();

 private:
  ServiceHandlers service_;
  RunHandlers runs_;
  BatchHandlers batches_;
  HostHandlers host_;
};

}  // namespace wardcase::supervisor
