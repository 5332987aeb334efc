// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include "supervisor/server/api_call.h"
#include "supervisor/server/readiness.h"
#include "supervisor/server/telemetry.h"

namespace wardcase::supervisor {

// What the service says of itself.
class ServiceHandlers {
 public:
  ServiceHandlers(Readiness& readiness, Telemetry& telemetry)
      : readiness_(readiness), telemetry_(telemetry) {}

  static void live(const ApiCall& call);
  void ready(const ApiCall& call) const;
  static void version(const ApiCall& call);
  static void openapi(const ApiCall& call);
  void metrics(const ApiCall& call) const;

  void begin_drain() { is_draining_ = true; }

 private:
  Readiness& readiness_;
  Telemetry& telemetry_;
  bool is_draining_ = false;
};

}  // namespace wardcase::supervisor
