// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/run/event_loop.h"
#include "supervisor/run/host.h"
#include "supervisor/run/run_record.h"
#include "supervisor/run/run_spec.h"

namespace wardcase::supervisor {

// Why the program itself does not run, as the record has it.
struct PartFailure {
  RunStatus status;  // install_failed, syntax_error, compile_failed, stopped, setup_failed, ...
  std::string error = {};                                // one sentence
  std::string hint = {};                                 // one next step, or ""
  std::optional<std::string> error_type = std::nullopt;  // "SyntaxError", where one is known
  std::optional<std::string> error_message = std::nullopt;
  std::optional<std::string> traceback = std::nullopt;
  std::optional<int> exit_code = std::nullopt;  // cannot_execute: 126 or 127
  int stop_signal = 0;                          // stopped: by which
};

// Makes `record` one of a program that did not run for this reason.
void tell_failure(PartFailure failure, RunRecord& record);

// What the parts tell of themselves, whatever becomes of the program.
struct StageNotes {
  std::optional<StageRecord> compile;
  std::optional<StageRecord> install;
};

// What belongs to a job beside the program's own run: what is done before it begins, and what is
// read off once it is over. Both are no-ops unless overridden. Called on the loop's thread;
// nothing may block it.
class JobPart {
 public:
  using Done = std::function<void(std::optional<PartFailure> failure)>;

  JobPart() = default;
  JobPart(const JobPart&) = delete;
  JobPart& operator=(const JobPart&) = delete;
  virtual ~JobPart() = default;

  // Gets ready what the program needs, and may change `program` until `done`, which is called
  // once, at once or later. A failure ends the job: the program does not run.
  // By value, as overriders keep it. NOLINTNEXTLINE(performance-unnecessary-value-param)
  virtual void before(EventLoop& loop, Host& host, RunSpec& program, StageNotes& notes, Done done) {
    (void)loop;
    (void)host;
    (void)program;
    (void)notes;
    done(std::nullopt);
  }
  // Whatever before() has under way is to end soon, with a failure as `stopped`; a second time:
  // without patience. Called only between before() and its `done`, or after() and its `resume`.
  virtual void stop(int signal) { (void)signal; }

  // The program ran and nothing of its tree lives (RunObserver::on_tree_gone). Adds to `record`.
  virtual void after(EventLoop& loop, int box_directory, RunRecord& record,
                     std::function<void()> resume) {  // NOLINT(performance-unnecessary-value-param)
    (void)loop;
    (void)box_directory;
    (void)record;
    resume();
  }

  // One that does for another run of the same program what this one does for its own. nullptr: what
  // before() has got ready serves all of them, as long as this exists.
  [[nodiscard]] virtual sys::Result<std::unique_ptr<JobPart>> another() const { return nullptr; }
};

// A program and all that belongs to it. Parts are done in order, before and after.
struct Job {
  RunSpec spec;
  std::vector<std::unique_ptr<JobPart>> parts;
};

}  // namespace wardcase::supervisor
