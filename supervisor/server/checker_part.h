// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "supervisor/languages/job_run.h"
#include "supervisor/languages/prepared_program.h"

namespace wardcase::supervisor {

// What a checker finds in its /box besides its own files; the last only where something is
// expected.
inline constexpr std::string_view kCheckerFiles[] = {"input", "output", "expected"};

// What a checker is to judge, and what it came to. It outlives the part.
struct CheckedCase {
  std::string_view input;
  std::optional<std::string_view> expected;
  sys::UniqueFd output;             // a file with all that the program has printed
  std::optional<RunRecord> record;  // of the checker, once it has ended; without: it did not run
  std::string error;                // why it could not
};

// After a program has run with success, has another judge in a box of its own what it has printed.
// It belongs to the program's own job: so there are never more outputs held than programs run.
class CheckerPart : public JobPart, private RunObserver {
 public:
  // `checker` is ready, and outlives this as `one` does.
  CheckerPart(const PreparedProgram& checker, CheckedCase& one) : checker_(checker), case_(one) {}

  void before(EventLoop& loop, Host& host, RunSpec& program, StageNotes& notes, Done done) override;
  void after(EventLoop& loop, int box_directory, RunRecord& record,
             std::function<void()> resume) override;
  void stop(int signal) override;

 private:
  [[nodiscard]] sys::Result<Job> make_job();
  void on_start(std::string_view /*run_id*/) override {}
  void on_output(Stream /*stream*/, std::string_view /*bytes*/) override {}
  void on_end(const RunRecord& record) override;

  const PreparedProgram& checker_;
  CheckedCase& case_;
  Host* host_ = nullptr;
  EventLoop* loop_ = nullptr;
  std::unique_ptr<JobRun> run_;
  std::function<void()> resume_;
};

}  // namespace wardcase::supervisor
