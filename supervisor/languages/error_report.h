// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "sandbox/sys/unique_fd.h"
#include "supervisor/languages/interpreter_hook.h"
#include "supervisor/languages/job.h"
#include "supervisor/languages/prelude.h"
#include "supervisor/languages/run_error.h"

namespace wardcase::supervisor {

// The part of a job that says what went wrong: it lets the interpreter tell of its exception, over
// a pipe that nothing else of the run depends on, and explains the end from that and from limits.
// It places the prelude as well, since the hook runs it.
class ErrorReport : public JobPart {
 public:
  // `hook`: nullptr where the interpreter can tell nothing.
  ErrorReport(const InterpreterHook* hook, std::optional<Prelude> prelude)
      : hook_(hook), prelude_(std::move(prelude)) {}
  ~ErrorReport() override;

  void before(EventLoop& loop, Host& host, RunSpec& program, StageNotes& notes, Done done) override;
  void after(EventLoop& loop, int box_directory, RunRecord& record,
             std::function<void()> resume) override;
  [[nodiscard]] sys::Result<std::unique_ptr<JobPart>> another() const override;

 private:
  [[nodiscard]] sys::Status prepare(EventLoop& loop, RunSpec& program);
  void read_some();
  void close_channel();

  const InterpreterHook* hook_;
  std::optional<Prelude> prelude_;
  ErrorScene scene_;
  EventLoop* loop_ = nullptr;
  sys::UniqueFd channel_;  // our end
  std::string told_;
};

}  // namespace wardcase::supervisor
