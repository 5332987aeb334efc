// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/telemetry.h"

#include <utility>

namespace wardcase::supervisor {

Telemetry::Telemetry() {
  auto place = open_state("audit", Missing::is_made);
  if (!place) {
    log_.warn("there is no audit log: " + place.error().message());
    return;
  }
  audit_.emplace(*std::move(place), [this](const sys::Error& error) {
    log_.warn("the audit log lacks a run: " + error.message());
  });
}

void Telemetry::on_record(const AskedProgram& asked, const RunRecord& record) {
  metrics_.count(record);
  if (audit_) audit_->add(asked, record);
  ServiceLog::Fields fields = {{"kind", asked.kind},
                               {"run", record.id},
                               {"owner", asked.owner},
                               {"status", std::string(status_name(record.status))},
                               {"duration_ms", std::to_string(record.duration.count() / 1000)}};
  if (record.session_id) fields.emplace_back("session", *record.session_id);
  if (record.language) fields.emplace_back("language", *record.language);
  if (!asked.trace.empty()) fields.emplace_back("trace_id", asked.trace);
  if (record.success()) return log_.inform("ended", fields);
  fields.emplace_back("error", record.error);
  log_.inform("ended without success", fields);
}

}  // namespace wardcase::supervisor
