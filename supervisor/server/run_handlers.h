// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <tl/expected.hpp>

#include "supervisor/run/host.h"
#include "supervisor/server/api_call.h"
#include "supervisor/server/quotas.h"
#include "supervisor/server/run_registry.h"
#include "supervisor/server/run_request.h"
#include "supervisor/server/service_configuration.h"

namespace wardcase::supervisor {

// /v1/runs and what is below it.
class RunHandlers {
 public:
  RunHandlers(const Host& host, const ServiceConfiguration& configuration, Quotas& quotas,
              RunRegistry& registry, RunQueue& queue)
      : host_(host),
        configuration_(configuration),
        quotas_(quotas),
        registry_(registry),
        queue_(queue) {}

  void begin(const ApiCall& call);
  void list(const ApiCall& call) const;
  void show(const ApiCall& call) const;
  void follow(const ApiCall& call) const;
  void stop(const ApiCall& call) const;

  void begin_drain() { is_draining_ = true; }

 private:
  // What was asked for under the same key before, or a new one.
  [[nodiscard]] tl::expected<KnownWork*, Problem> make_run(const RunRequest& asked,
                                                           const ApiCall& call, RunTerms terms);
  [[nodiscard]] KnownRun* find(const ApiCall& call) const;

  const Host& host_;
  const ServiceConfiguration& configuration_;
  Quotas& quotas_;
  RunRegistry& registry_;
  RunQueue& queue_;
  bool is_draining_ = false;
};

}  // namespace wardcase::supervisor
