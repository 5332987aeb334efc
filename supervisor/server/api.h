// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "supervisor/run/host.h"
#include "supervisor/server/connection.h"
#include "supervisor/server/http_codec.h"
#include "supervisor/server/readiness.h"
#include "supervisor/server/run_queue.h"

namespace wardcase::supervisor {

// What each path answers.
class Api {
 public:
  using Answer = std::function<void(const HttpResponse&)>;

  Api(const Host& host, RunQueue& queue, Readiness& readiness)
      : host_(host), queue_(queue), readiness_(readiness) {}

  // Calls `answer` once: at once, or, where a ticket is returned, when that run is over.
  // Its bearer may abandon the ticket in the queue; then there is no answer.
  [[nodiscard]] std::optional<RunQueue::Ticket> handle(const HttpRequest& request,
                                                       Transport transport, const Answer& answer);
  // No run begins any more.
  void begin_drain() { is_draining_ = true; }

 private:
  [[nodiscard]] std::optional<RunQueue::Ticket> run(const HttpRequest& request,
                                                    const Answer& answer);
  [[nodiscard]] HttpResponse ready() const;

  const Host& host_;
  RunQueue& queue_;
  Readiness& readiness_;
  bool is_draining_ = false;
};

}  // namespace wardcase::supervisor
