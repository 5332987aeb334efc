// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/run_error.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "supervisor/languages/error_hints.h"

namespace wardcase::supervisor {
namespace {

// Other names for one kind of failure, by class or by the code that Node.js has for it.
constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
    {"IndentationError", "SyntaxError"},
    {"TabError", "SyntaxError"},
    {"ModuleNotFoundError", "ImportError"},
    {"MODULE_NOT_FOUND", "ImportError"},
    {"ERR_MODULE_NOT_FOUND", "ImportError"},
    {"EACCES", "PermissionError"},
    {"EPERM", "PermissionError"},
    {"LoadError", "ImportError"},
    {"NoMemoryError", "MemoryError"},
    {"Errno::EACCES", "PermissionError"},
    {"Errno::EPERM", "PermissionError"},
};

std::string type_of(const ToldError& told) {
  for (const auto& [name, type] : kTypes) {
    if (name == told.code || name == told.type) return std::string(type);
  }
  return told.type;
}

// What ended the run was ours, and has a type of its own whatever was told.
std::string_view type_of(RunStatus status) {
  switch (status) {
    case RunStatus::timeout:
    case RunStatus::cpu_time:
    case RunStatus::idle:
      return "TimeoutError";
    case RunStatus::oom:
      return "MemoryError";
    case RunStatus::denied:
      return "PermissionError";
    default:
      return "";
  }
}

bool has_failed(const RunRecord& record) {
  return record.status == RunStatus::signaled ||
         (record.status == RunStatus::exited && !record.success());
}

void take_told(const ToldError& told, RunRecord& record) {
  record.error_type = type_of(told);
  record.error_message = told.message;
  if (!told.traceback.empty()) record.traceback = told.traceback;
  record.missed_module = told.module;
  if (told.error_number == ENOENT) record.missed_path = told.path;
}

void describe_prelude(const ToldError& told, const std::string& name, RunRecord& record) {
  const bool is_over = record.status == RunStatus::exited || record.status == RunStatus::signaled;
  if (told.prelude != PreludeState::begun || !is_over) return;
  if (record.success()) {
    record.hint = "prelude '" + name + "' ended the run before the program began";
    return;
  }
  record.error = "prelude '" + name + "' failed: ";
  if (!told.type.empty()) {
    record.error += *record.error_type;
  } else if (record.signal) {
    record.error += "ended by " + signal_name(*record.signal);
  } else {
    record.error += "exit code " + std::to_string(record.exit_code.value_or(0));
  }
}

}  // namespace

void describe_error(const ToldError& told, const ErrorScene& scene, RunRecord& record) {
  if (const std::string_view type = type_of(record.status); !type.empty()) {
    record.error_type = type;
    record.error_message = record.error;
  } else if (has_failed(record) && !told.type.empty()) {
    take_told(told, record);
  }
  if (!scene.prelude.empty()) describe_prelude(told, scene.prelude, record);
  if (record.hint.empty()) record.hint = find_error_hint(told, scene, record);
}

}  // namespace wardcase::supervisor
