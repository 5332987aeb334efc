// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string_view>
#include <tl/expected.hpp>

#include "supervisor/run/host.h"
#include "supervisor/server/api_call.h"
#include "supervisor/server/run_registry.h"
#include "supervisor/server/run_request.h"

namespace wardcase::supervisor {

// /v1/runs and what is below it.
class RunHandlers {
 public:
  RunHandlers(const Host& host, RunRegistry& registry, RunQueue& queue)
      : host_(host), registry_(registry), queue_(queue) {}

  void begin(const ApiCall& call);
  void list(const ApiCall& call) const;
  void show(const ApiCall& call) const;
  void follow(const ApiCall& call) const;
  void stop(const ApiCall& call) const;

  void begin_drain() { is_draining_ = true; }

 private:
  [[nodiscard]] tl::expected<KnownRun*, Problem> make_run(const RunRequest& asked, RunTerms terms);
  [[nodiscard]] KnownRun* find(const ApiCall& call) const;

  const Host& host_;
  RunRegistry& registry_;
  RunQueue& queue_;
  bool is_draining_ = false;
};

}  // namespace wardcase::supervisor
