// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Texts go through to_json_text() on their way, since some (a path in an error, say) come
// from outside.
#include <boost/json.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/run/json_text.h"
#include "supervisor/run/record_parts.h"
#include "supervisor/run/run_record.h"

namespace wardcase::supervisor {
namespace {

namespace json = boost::json;

constexpr int kSchemaVersion = 1;

json::value text_or_null(const std::optional<std::string>& value) {
  if (!value) return nullptr;
  return to_json_text(*value);
}

void add_identity(json::object& object, const RunRecord& record) {
  object["schema_version"] = kSchemaVersion;
  object["id"] = to_json_text(record.id);
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
    object["stdout"] = to_json_text(record.out.text);
    object["stderr"] = to_json_text(record.err.text);
  }
  object["output"] = to_json_text(record.output);
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

json::value denied_calls(const std::optional<std::vector<DeniedCall>>& calls) {
  if (!calls) return nullptr;
  json::array all;
  for (const DeniedCall& call : *calls) {
    all.emplace_back(json::object{{"name", to_json_text(call.name)},
                                  {"count", call.count},
                                  {"detail", to_json_text(call.detail)}});
  }
  return all;
}

void add_told(json::object& object, const RunRecord& record) {
  object["error_type"] = text_or_null(record.error_type);
  object["error_message"] = text_or_null(record.error_message);
  object["traceback"] = text_or_null(record.traceback);
  object["result"] = nullptr;
  if (!record.result) return;
  json::object mime;
  for (const auto& [type, content] : record.result->mime) {
    mime[to_json_text(type)] = to_json_text(content);
  }
  object["result"] =
      json::object{{"text", to_json_text(record.result->text)}, {"mime", std::move(mime)}};
}

json::object to_object(const Artifact& artifact) {
  return {{"path", to_json_text(artifact.path)},
          {"size", artifact.size},
          {"mime", to_json_text(artifact.mime)},
          {"sha256", artifact.sha256}};
}

json::array artifacts(const std::vector<Artifact>& artifacts) {
  json::array all;
  for (const Artifact& artifact : artifacts) all.emplace_back(to_object(artifact));
  return all;
}

}  // namespace

std::string to_json(const Artifact& artifact) { return json::serialize(to_object(artifact)); }

std::string to_json(const RunRecord& record, OutputForm form) {
  json::object object;
  add_identity(object, record);
  add_end(object, record);
  add_output(object, record, form);
  add_usage(object, record);
  add_limits(object, record);
  object["limits_hit"] = to_json_texts(record.limits_hit);
  add_isolation(object, record);
  object["denied_syscalls"] = denied_calls(record.denied_syscalls);
  add_told(object, record);
  object["artifacts"] = artifacts(record.artifacts);
  object["compile"] = stage_value(record.compile);
  object["install"] = stage_value(record.install);
  object["start"] = "cold";
  object["error"] = to_json_text(record.error);
  object["hint"] = to_json_text(record.hint);
  return json::serialize(object);
}

}  // namespace wardcase::supervisor
