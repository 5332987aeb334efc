// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "supervisor/run/run_record.h"

namespace wardcase::supervisor {

// What the service has done, counted since its start, for Prometheus. Nothing in it is of one run
// or one caller.
class Metrics {
 public:
  // What is true at this moment.
  struct Gauges {
    std::size_t running = 0;
    std::size_t waiting = 0;
    std::size_t connections = 0;
    bool is_ready = false;
  };

  Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;
  ~Metrics();

  void count(const RunRecord& record);
  // In Prometheus' text format, version 0.0.4.
  [[nodiscard]] std::string text(const Gauges& gauges);

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace wardcase::supervisor
