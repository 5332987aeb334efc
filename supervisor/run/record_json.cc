// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Everything here goes through to_utf8() on its way: Boost.JSON hands bad bytes
// on as they are, and some texts (a path in an error, say) come from outside.
#include <boost/json.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policies/limits.h"
#include "supervisor/run/json_text.h"
#include "supervisor/run/run_record.h"
#include "supervisor/run/text_decoder.h"

namespace wardcase::supervisor {
namespace {

namespace json = boost::json;

constexpr int kSchemaVersion = 1;
constexpr std::uint64_t kMillicpus = 1000;  // of one processor

json::string text(std::string_view bytes) { return json::string(to_utf8(bytes)); }

json::value text_or_null(const std::optional<std::string>& value) {
  if (!value) return nullptr;
  return text(*value);
}

json::value number_or_null(const std::optional<std::uint64_t>& value) {
  if (!value) return nullptr;
  return *value;
}

json::array texts(const std::vector<std::string>& values) {
  json::array all;
  for (const std::string& value : values) all.emplace_back(text(value));
  return all;
}

std::int64_t milliseconds(std::chrono::microseconds time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

// Processors are told as people count them: 2, 1.5.
json::value limit_value(const policies::LimitRow& row, std::optional<std::uint64_t> value) {
  if (!value || row.unit != policies::Unit::millicpus) return number_or_null(value);
  if (*value % kMillicpus == 0) return *value / kMillicpus;
  return static_cast<double>(*value) / static_cast<double>(kMillicpus);
}

void add_identity(json::object& object, const RunRecord& record) {
  object["schema_version"] = kSchemaVersion;
  object["id"] = text(record.id);
  object["session_id"] = text_or_null(record.session_id);
  object["language"] = text_or_null(record.language);
}

void add_end(json::object& object, const RunRecord& record) {
  object["status"] = status_name(record.status);
  object["success"] = record.success();
  // What could not be executed has no exit code of its own.
  const bool has_code = record.exit_code && record.status != RunStatus::cannot_execute;
  object["exit_code"] = has_code ? json::value(*record.exit_code) : json::value(nullptr);
  object["signal"] =
      record.signal ? json::value(signal_name(*record.signal)) : json::value(nullptr);
  object["unkillable"] = record.unkillable;
  object["session_ended"] = record.session_ended;
  object["session_restarted"] = record.session_restarted;
}

void add_output(json::object& object, const RunRecord& record, OutputForm form) {
  if (form == OutputForm::base64) {
    object["stdout_base64"] = base64(record.out.raw);
    object["stderr_base64"] = base64(record.err.raw);
  } else {
    object["stdout"] = text(record.out.text);
    object["stderr"] = text(record.err.text);
  }
  object["output"] = text(record.output);
  object["stdout_bytes"] = record.out.bytes;
  object["stderr_bytes"] = record.err.bytes;
  object["stdout_truncated"] = record.out.truncated;
  object["stderr_truncated"] = record.err.truncated;
  object["encoding_errors"] = record.encoding_errors;
}

void add_usage(json::object& object, const RunRecord& record) {
  object["duration_ms"] = milliseconds(record.duration);
  object["cpu_ms"] = record.cpu ? json::value(milliseconds(*record.cpu)) : json::value(nullptr);
  object["setup_ms"] = milliseconds(record.setup);
  object["queued_ms"] = milliseconds(record.queued);
  object["memory_peak_bytes"] = number_or_null(record.memory_peak_bytes);
  object["oom_kills"] = number_or_null(record.oom_kills);
  object["processes_peak"] = number_or_null(record.processes_peak);
  object["leftover_processes"] = record.leftover_processes;
}

void add_limits(json::object& object, const RunRecord& record) {
  json::object limits;
  json::object enforced_by;
  for (const policies::LimitRow& row : policies::limit_table()) {
    limits[row.json_key] = limit_value(row, record.limits.get(row.id));
    enforced_by[row.key] = enforcement_name(record.enforced_by[static_cast<std::size_t>(row.id)]);
  }
  object["limits"] = std::move(limits);
  object["limits_hit"] = texts(record.limits_hit);
  object["enforced_by"] = std::move(enforced_by);
}

void add_isolation(json::object& object, const Isolation& isolation) {
  json::array degraded;
  for (const Degraded& one : isolation.degraded) {
    degraded.emplace_back(json::object{{"feature", text(one.feature)},
                                       {"because", text(one.because)},
                                       {"instead", text(one.instead)},
                                       {"fix", text(one.fix)}});
  }
  object["isolation"] = json::object{{"requested", texts(isolation.requested)},
                                     {"effective", texts(isolation.effective)},
                                     {"degraded", std::move(degraded)}};
}

json::value denied_calls(const std::optional<std::vector<DeniedCall>>& calls) {
  if (!calls) return nullptr;
  json::array all;
  for (const DeniedCall& call : *calls) {
    all.emplace_back(json::object{
        {"name", text(call.name)}, {"count", call.count}, {"detail", text(call.detail)}});
  }
  return all;
}

// Fields of the contract that no part of a plain run fills in: nothing is compiled,
// installed or collected.
void add_unobserved(json::object& object) {
  for (const char* key :
       {"error_type", "error_message", "traceback", "result", "compile", "install"}) {
    object[key] = nullptr;
  }
  object["artifacts"] = json::array();
  object["start"] = "cold";
}

}  // namespace

std::string to_json(const RunRecord& record, OutputForm form) {
  json::object object;
  add_identity(object, record);
  add_end(object, record);
  add_output(object, record, form);
  add_usage(object, record);
  add_limits(object, record);
  add_isolation(object, record.isolation);
  object["denied_syscalls"] = denied_calls(record.denied_syscalls);
  add_unobserved(object);
  object["error"] = text(record.error);
  object["hint"] = text(record.hint);
  return json::serialize(object);
}

}  // namespace wardcase::supervisor
