// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <memory>
#include <vector>

#include "sandbox/sys/error.h"
#include "supervisor/languages/job.h"

namespace wardcase::supervisor {

// A program that is got ready once - its syntax looked at, its requirements installed, compiled -
// and then runs many times, side by side.
class PreparedProgram {
 public:
  // Of a job that was settled as for one run.
  explicit PreparedProgram(Job job);
  PreparedProgram(const PreparedProgram&) = delete;
  PreparedProgram& operator=(const PreparedProgram&) = delete;
  ~PreparedProgram();

  // The job that gets it ready, which executes nothing of it: its record is `exited` once the
  // program can be run. To be done once; this outlives it.
  [[nodiscard]] sys::Result<Job> preparation();
  // One run of it, after its preparation. This outlives it.
  [[nodiscard]] sys::Result<Job> make_run() const;

  [[nodiscard]] const RunSpec& spec() const { return spec_; }
  [[nodiscard]] policies::Limits& limits() { return spec_.limits; }

 private:
  class Borrowed;
  class Taken;

  RunSpec spec_;
  std::vector<std::unique_ptr<JobPart>> shared_;  // what they have got ready serves all runs
  std::vector<std::unique_ptr<JobPart>> models_;  // of those that each run has for itself
};

}  // namespace wardcase::supervisor
