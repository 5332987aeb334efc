// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <tl/expected.hpp>

#include "supervisor/run/host.h"
#include "supervisor/server/api_call.h"
#include "supervisor/server/batch_registry.h"
#include "supervisor/server/quotas.h"
#include "supervisor/server/service_configuration.h"

namespace wardcase::supervisor {

// /v1/batches and what is below it.
class BatchHandlers {
 public:
  BatchHandlers(const Host& host, const ServiceConfiguration& configuration, Quotas& quotas,
                BatchRegistry& registry, const RunQueue& queue)
      : host_(host),
        configuration_(configuration),
        quotas_(quotas),
        registry_(registry),
        queue_(queue) {}

  void begin(const ApiCall& call);
  void show(const ApiCall& call) const;
  void follow(const ApiCall& call) const;
  void stop(const ApiCall& call) const;

  void begin_drain();

 private:
  [[nodiscard]] tl::expected<KnownWork*, Problem> make_batch(BatchRequest asked,
                                                             const ApiCall& call, RunTerms terms);
  [[nodiscard]] KnownWork* find(const ApiCall& call) const;

  const Host& host_;
  const ServiceConfiguration& configuration_;
  Quotas& quotas_;
  BatchRegistry& registry_;
  const RunQueue& queue_;
  bool is_draining_ = false;
};

}  // namespace wardcase::supervisor
