// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sandbox/launch_request.h"
#include "supervisor/cli/run_options.h"
#include "supervisor/languages/job.h"
#include "supervisor/run/event_loop.h"
#include "supervisor/run/host.h"
#include "supervisor/run/run_record.h"

namespace wardcase::supervisor {

// What a run would be, worked out and tried.
struct DryRun {
  std::string policy;
  std::vector<std::string> argv;
  std::string directory;
  policies::Network network = policies::Network::none;
  std::vector<std::string> environment;     // names alone: values may be secrets
  std::vector<sandbox::BindRequest> binds;  // besides what every box shows
  std::array<std::string, policies::kLimitCount> limit_origins;
  RunRecord record;  // `exited` without an exit code: it would run; else why it would not

  [[nodiscard]] bool would_run() const { return record.status == RunStatus::exited; }
};

// Does what has to be done before the program, as a run would; makes its box, executes the program,
// and ends it before its first instruction; nothing is left behind. With `refusal` there is nothing
// to try, and this is its record. Fails only where the loop does.
[[nodiscard]] sys::Result<DryRun> rehearse(EventLoop& loop, Host& host, const RunOptions& options,
                                           Job job, const std::optional<RunRecord>& refusal);

// 0, or what the run would exit with where it is refused.
[[nodiscard]] int exit_code_of(const DryRun& dry_run);

// For people, lines of text; without control characters.
[[nodiscard]] std::string to_text(const DryRun& dry_run);

// One JSON object without a line break; wardcase(1) has its fields.
[[nodiscard]] std::string to_json(const DryRun& dry_run);

}  // namespace wardcase::supervisor
