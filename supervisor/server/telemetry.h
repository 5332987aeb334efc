// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "supervisor/server/audit.h"
#include "supervisor/server/metrics.h"
#include "supervisor/server/service_log.h"

namespace wardcase::supervisor {

// What can be seen of the service from outside: its log, its counters, and the audit log in the
// state directory. Values of variables, tokens and programs' texts are in none of them.
class Telemetry {
 public:
  Telemetry();

  [[nodiscard]] ServiceLog& log() { return log_; }
  // A program of somebody's has its record.
  void on_record(const AskedProgram& asked, const RunRecord& record);

  // Who knows what is true now; asked for each text of metrics.
  void take_gauges(std::function<Metrics::Gauges()> gauges) { gauges_ = std::move(gauges); }
  [[nodiscard]] std::string metrics() { return metrics_.text(gauges_()); }

 private:
  ServiceLog log_;
  Metrics metrics_;
  std::optional<Audit> audit_;
  std::function<Metrics::Gauges()> gauges_ = [] { return Metrics::Gauges(); };
};

}  // namespace wardcase::supervisor
