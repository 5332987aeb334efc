// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/run_record.h"

#include <csignal>
#include <cstring>

namespace wardcase::supervisor {
namespace {

// As timeout(1) and env(1) have them; sh(1) for 128 + signal.
constexpr int kTimedOut = 124;
constexpr int kOurFailure = 125;
constexpr int kNotFound = 127;
constexpr int kSignalBase = 128;
constexpr int kRefused = 1;

}  // namespace

std::string_view status_name(RunStatus status) {
  switch (status) {
    case RunStatus::exited:
      return "exited";
    case RunStatus::signaled:
      return "signaled";
    case RunStatus::timeout:
      return "timeout";
    case RunStatus::cpu_time:
      return "cpu_time";
    case RunStatus::idle:
      return "idle";
    case RunStatus::oom:
      return "oom";
    case RunStatus::output_limit:
      return "output_limit";
    case RunStatus::disk_limit:
      return "disk_limit";
    case RunStatus::denied:
      return "denied";
    case RunStatus::stopped:
      return "stopped";
    case RunStatus::setup_failed:
      return "setup_failed";
    case RunStatus::cannot_execute:
      return "cannot_execute";
    case RunStatus::invalid_request:
      return "invalid_request";
    case RunStatus::syntax_error:
      return "syntax_error";
    case RunStatus::compile_failed:
      return "compile_failed";
    case RunStatus::install_failed:
      return "install_failed";
    case RunStatus::running:
      return "running";
    case RunStatus::lost:
      return "lost";
  }
  return "lost";  // not reached: the list is closed
}

std::optional<RunStatus> status_named(std::string_view name) {
  for (int number = 0; number <= static_cast<int>(RunStatus::lost); ++number) {
    const auto status = static_cast<RunStatus>(number);
    if (status_name(status) == name) return status;
  }
  return std::nullopt;
}

int exit_code_of(const RunRecord& record) {
  switch (record.status) {
    case RunStatus::exited:
      return record.exit_code.value_or(kOurFailure);
    case RunStatus::signaled:
      return kSignalBase + record.signal.value_or(SIGKILL);
    case RunStatus::timeout:
    case RunStatus::cpu_time:
    case RunStatus::idle:
    case RunStatus::output_limit:
    case RunStatus::disk_limit:
      return kTimedOut;
    case RunStatus::oom:
      return kSignalBase + SIGKILL;
    case RunStatus::denied:
      return kSignalBase + SIGSYS;
    case RunStatus::stopped:
      return kSignalBase + (record.stop_signal != 0 ? record.stop_signal : SIGTERM);
    case RunStatus::cannot_execute:
      return record.exit_code.value_or(kNotFound);
    case RunStatus::syntax_error:
    case RunStatus::compile_failed:
      return kRefused;
    case RunStatus::running:
      return 0;
    case RunStatus::setup_failed:
    case RunStatus::invalid_request:
    case RunStatus::install_failed:
    case RunStatus::lost:
      return kOurFailure;
  }
  return kOurFailure;  // not reached: the list is closed
}

std::string_view enforcement_name(sandbox::Enforcement enforcement) {
  switch (enforcement) {
    case sandbox::Enforcement::none:
      return "none";
    case sandbox::Enforcement::rlimit:
      return "rlimit";
    case sandbox::Enforcement::watcher:
      return "watcher";
    case sandbox::Enforcement::cgroup1:
      return "cgroup1";
    case sandbox::Enforcement::cgroup2:
      return "cgroup2";
  }
  return "none";  // not reached: the list is closed
}

std::string signal_name(int signal) {
  if (const char* name = ::sigabbrev_np(signal); name != nullptr) {
    return std::string("SIG") + name;
  }
  const int realtime = signal - SIGRTMIN;
  if (realtime == 0) return "SIGRTMIN";
  if (realtime > 0) return "SIGRTMIN+" + std::to_string(realtime);
  return "SIG" + std::to_string(signal);  // one of the two that libc keeps for itself
}

}  // namespace wardcase::supervisor
