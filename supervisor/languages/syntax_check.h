// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "policies/language.h"
#include "supervisor/languages/job.h"
#include "supervisor/languages/job_run.h"
#include "supervisor/languages/stage_box.h"

namespace wardcase::supervisor {

// Whose syntax is looked at, and by what.
struct CheckOrder {
  policies::Runner runner;  // its check has a command
  SourceFile source;
  // Where the source is shown already, with all that it may include; "": it stands alone.
  std::string shown_at;
  std::optional<std::string> interpreter;  // the caller's own, by its path in the box
  std::string script_suffix;               // of the check's script, ".py"
  policies::Limits limits;                 // of a check before a run
};

// Makes `spec`, whose mounts, limits and variables are those of the program, into the run of its
// check: what is shown of the host is read-only, and nothing of the program is executed.
[[nodiscard]] sys::Status make_check(const CheckOrder& order, unsigned host_cpus, RunSpec& spec);

// Why the program is refused by what its check came to; nullopt: its syntax is right.
[[nodiscard]] std::optional<PartFailure> judge_check(const CheckOrder& order,
                                                     const RunRecord& check);

// Checks the program before it runs.
class CheckPart : public JobPart {
 public:
  explicit CheckPart(CheckOrder order) : order_(std::move(order)) {}

  void before(EventLoop& loop, Host& host, RunSpec& program, StageNotes& notes, Done done) override;
  void stop(int signal) override;

 private:
  CheckOrder order_;
  std::unique_ptr<StageRun> run_;
};

// Where the check itself is what is run: turns its record into one about the program.
class VerdictPart : public JobPart {
 public:
  explicit VerdictPart(CheckOrder order) : order_(std::move(order)) {}

  void after(EventLoop& loop, int box_directory, RunRecord& record,
             std::function<void()> resume) override;

 private:
  CheckOrder order_;
};

}  // namespace wardcase::supervisor
