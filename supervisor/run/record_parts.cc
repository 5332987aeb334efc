// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/record_parts.h"

#include <utility>

#include "policies/limits.h"
#include "supervisor/run/text_decoder.h"

namespace wardcase::supervisor {

namespace json = boost::json;

namespace {

constexpr std::uint64_t kMillicpus = 1000;  // of one processor

}  // namespace

// Processors are told as people count them: 2, 1.5.
json::value limit_value(const policies::LimitRow& row, std::optional<std::uint64_t> value) {
  if (!value || row.unit != policies::Unit::millicpus) return number_or_null(value);
  if (*value % kMillicpus == 0) return *value / kMillicpus;
  return static_cast<double>(*value) / static_cast<double>(kMillicpus);
}

json::string to_json_text(std::string_view bytes) { return json::string(to_utf8(bytes)); }

json::array to_json_texts(const std::vector<std::string>& values) {
  json::array all;
  for (const std::string& value : values) all.emplace_back(to_json_text(value));
  return all;
}

json::value number_or_null(const std::optional<std::uint64_t>& value) {
  if (!value) return nullptr;
  return *value;
}

std::int64_t milliseconds(std::chrono::microseconds time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

json::value stage_value(const std::optional<StageRecord>& stage) {
  if (!stage) return nullptr;
  return json::object{
      {"status", status_name(stage->status)},
      {"exit_code", stage->exit_code ? json::value(*stage->exit_code) : json::value(nullptr)},
      {"signal", stage->signal ? json::value(signal_name(*stage->signal)) : json::value(nullptr)},
      {"stdout", to_json_text(stage->out)},
      {"stderr", to_json_text(stage->err)},
      {"duration_ms", milliseconds(stage->duration)},
      {"cpu_ms", stage->cpu ? json::value(milliseconds(*stage->cpu)) : json::value(nullptr)},
      {"memory_peak_bytes", number_or_null(stage->memory_peak_bytes)},
      {"cached", stage->cached},
      {"error", to_json_text(stage->error)}};
}

void add_limits(json::object& object, const RunRecord& record) {
  json::object limits;
  json::object enforced_by;
  for (const policies::LimitRow& row : policies::limit_table()) {
    limits[row.json_key] = limit_value(row, record.limits.get(row.id));
    enforced_by[row.key] = enforcement_name(record.enforced_by[static_cast<std::size_t>(row.id)]);
  }
  object["limits"] = std::move(limits);
  object["enforced_by"] = std::move(enforced_by);
}

void add_isolation(json::object& object, const RunRecord& record) {
  json::array degraded;
  for (const Degraded& one : record.isolation.degraded) {
    degraded.emplace_back(json::object{{"feature", to_json_text(one.feature)},
                                       {"because", to_json_text(one.because)},
                                       {"instead", to_json_text(one.instead)},
                                       {"fix", to_json_text(one.fix)}});
  }
  object["isolation"] = json::object{{"requested", to_json_texts(record.isolation.requested)},
                                     {"effective", to_json_texts(record.isolation.effective)},
                                     {"degraded", std::move(degraded)}};
}

}  // namespace wardcase::supervisor
