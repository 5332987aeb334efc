// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/prepared_program.h"

#include <utility>

#include "supervisor/run/run.h"

namespace wardcase::supervisor {

// Stands for a part that outlives the job.
class PreparedProgram::Borrowed : public JobPart {
 public:
  explicit Borrowed(JobPart& part) : part_(part) {}

  void before(EventLoop& loop, Host& host, RunSpec& program, StageNotes& notes,
              Done done) override {
    part_.before(loop, host, program, notes, std::move(done));
  }
  void stop(int signal) override { part_.stop(signal); }

 private:
  JobPart& part_;
};

// The last part of a preparation: what the others have made of the spec is what runs begin with.
class PreparedProgram::Taken : public JobPart {
 public:
  explicit Taken(RunSpec& place) : place_(place) {}

  void before(EventLoop& /*loop*/, Host& /*host*/, RunSpec& program, StageNotes& /*notes*/,
              Done done) override {
    auto taken = program.share();
    if (!taken) {
      return done(PartFailure{.status = RunStatus::setup_failed, .error = taken.error().message()});
    }
    place_ = *std::move(taken);
    place_.rehearsal = false;
    done(std::nullopt);
  }

 private:
  RunSpec& place_;
};

PreparedProgram::PreparedProgram(Job job) : spec_(std::move(job.spec)) {
  for (auto& part : job.parts) {
    const auto other = part->another();
    const bool is_shared = other && *other == nullptr;
    (is_shared ? shared_ : models_).push_back(std::move(part));
  }
}

PreparedProgram::~PreparedProgram() = default;

sys::Result<Job> PreparedProgram::preparation() {
  auto spec = spec_.share();
  if (!spec) return tl::unexpected(std::move(spec).error());
  Job job;
  job.spec = *std::move(spec);
  job.spec.id = make_id("run_");
  job.spec.rehearsal = true;
  for (const auto& part : shared_) job.parts.push_back(std::make_unique<Borrowed>(*part));
  job.parts.push_back(std::make_unique<Taken>(spec_));
  return job;
}

sys::Result<Job> PreparedProgram::make_run() const {
  auto spec = spec_.share();
  if (!spec) return tl::unexpected(std::move(spec).error());
  Job job;
  job.spec = *std::move(spec);
  job.spec.id = make_id("run_");
  for (const auto& model : models_) {
    auto part = model->another();
    if (!part) return tl::unexpected(std::move(part).error());
    job.parts.push_back(*std::move(part));
  }
  return job;
}

}  // namespace wardcase::supervisor
