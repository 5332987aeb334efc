// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/stage_box.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "sandbox/sys/retry.h"
#include "supervisor/languages/program_file.h"

namespace wardcase::supervisor {
namespace {

using policies::LimitId;

void set_limit(LimitId id, const std::optional<std::uint64_t>& own, policies::Limits& limits) {
  if (!own) return;
  const auto& most = limits.maximum(id).value;
  limits.set_default(id, most ? std::min(*own, *most) : *own);
}

}  // namespace

RunSpec stage_spec(const RunSpec& program, const policies::Limits& limits) {
  RunSpec stage;
  stage.environment = program.environment;
  stage.system_mounts = program.system_mounts;
  stage.policy = program.policy;
  stage.require = program.require;
  stage.syscalls = program.syscalls;
  stage.oom = program.oom;
  stage.execute_writable = program.execute_writable;
  stage.confinement = program.confinement;
  stage.limits = limits;
  return stage;
}

policies::Limits stage_limits(const policies::Policy& policy, const policies::StageLimits& own) {
  policies::Limits limits = policies::limits_of(policy);
  set_limit(LimitId::timeout, own.timeout, limits);
  set_limit(LimitId::memory, own.memory, limits);
  set_limit(LimitId::pids, own.pids, limits);
  return limits;
}

sys::Status share_files(const RunSpec& program, RunSpec& stage) {
  for (const PlacedFile& file : program.files) {
    if (!file.path.starts_with("/box/")) continue;
    sys::UniqueFd copy(::fcntl(file.content.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (!copy.is_open()) return tl::unexpected(sys::errno_error("share '" + file.path + "'"));
    stage.files.push_back({file.path, std::move(copy), file.mode});
  }
  return {};
}

sys::Result<std::string> read_source(int content, const std::string& name) {
  std::string text;
  std::array<char, 64 * 1024> chunk;
  while (true) {
    const ssize_t got = sys::retry_eintr([&] {
      return ::pread(content, chunk.data(), chunk.size(), static_cast<off_t>(text.size()));
    });
    if (got < 0) return tl::unexpected(sys::errno_error("read '" + name + "'"));
    if (got == 0) return text;
    text.append(chunk.data(), static_cast<std::size_t>(got));
    if (text.size() > kMaxProgramBytes) {
      return tl::unexpected(sys::Error{EFBIG, "'" + name + "' may have 64 MiB"});
    }
  }
}

PartFailure stage_failure(const RunRecord& stage, RunStatus verdict, std::string_view doing,
                          std::string_view limits_place) {
  const std::string what = std::string(doing) + ": ";
  PartFailure failure = {.status = stage.status};
  switch (stage.status) {
    case RunStatus::stopped:
      failure.error = stage.error;
      failure.stop_signal = stage.stop_signal;
      return failure;
    case RunStatus::setup_failed:
    case RunStatus::invalid_request:
    case RunStatus::cannot_execute:
    case RunStatus::lost:
      failure.error = what + stage.error;
      failure.exit_code = stage.exit_code;
      return failure;
    case RunStatus::timeout:
    case RunStatus::cpu_time:
    case RunStatus::oom:
    case RunStatus::disk_limit:
    case RunStatus::output_limit:
      failure.hint = "its own limits are in " + std::string(limits_place);
      failure.error =
          what + "ended by a limit of its own (" + std::string(status_name(stage.status)) + ")";
      break;
    case RunStatus::signaled:
      failure.error = what + "ended by " + (stage.signal ? signal_name(*stage.signal) : "a signal");
      break;
    case RunStatus::exited:
      failure.error = what + "exited with " + std::to_string(stage.exit_code.value_or(-1));
      break;
    default:
      failure.error = what + std::string(status_name(stage.status));
  }
  failure.status = verdict;
  return failure;
}

}  // namespace wardcase::supervisor
