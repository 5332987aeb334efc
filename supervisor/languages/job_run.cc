// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/job_run.h"

#include <utility>

#include "sandbox/sys/error.h"

namespace wardcase::supervisor {

using std::chrono::microseconds;

void JobRun::start(Job job, RunObserver& observer) {
  WARDCASE_CHECK(observer_ == nullptr);  // one JobRun, one job
  job_ = std::move(job);
  observer_ = &observer;
  if (job_.spec.id.empty()) job_.spec.id = make_id("run_");
  started_at_ = Clock::now();
  if (job_.parts.empty()) {
    phase_ = Phase::running;
    return run_.start(std::move(job_.spec), *this);
  }
  loop_.post([this] {
    phase_ = Phase::preparing;
    next_part();
  });
}

void JobRun::stop(int signal) {
  if (phase_ == Phase::running) return run_.stop(signal);
  if (phase_ == Phase::finishing) return job_.parts[at_ - 1]->stop(signal);
  if (phase_ == Phase::over) return;
  if (stop_signal_ == 0) stop_signal_ = signal;
  if (phase_ == Phase::preparing) job_.parts[at_]->stop(signal);
}

// Before the program is there the size is kept for it.
void JobRun::resize_terminal(const winsize& size) {
  if (phase_ == Phase::running) return run_.resize_terminal(size);
  job_.spec.terminal = size;
}

void JobRun::next_part() {
  if (stop_signal_ != 0) {
    return give_up({.status = RunStatus::stopped,
                    .error = "stopped by " + signal_name(stop_signal_),
                    .stop_signal = stop_signal_});
  }
  if (at_ == job_.parts.size()) {
    preparing_ = std::chrono::duration_cast<microseconds>(Clock::now() - started_at_);
    phase_ = Phase::running;
    return run_.start(std::move(job_.spec), *this);
  }
  job_.parts[at_]->before(
      loop_, host_, job_.spec, notes_, [this](std::optional<PartFailure> failure) {
        // Its own call may be under way.
        loop_.post(
            [this, failure = std::move(failure)]() mutable { on_part_done(std::move(failure)); });
      });
}

void JobRun::on_part_done(std::optional<PartFailure> failure) {
  if (failure) return give_up(*std::move(failure));
  ++at_;
  next_part();
}

void JobRun::give_up(PartFailure failure) {
  phase_ = Phase::over;
  RunRecord record;
  record.id = job_.spec.id;
  record.language = job_.spec.language;
  record.limits = job_.spec.limits;
  tell_failure(std::move(failure), record);
  record.compile = std::move(notes_.compile);
  record.install = std::move(notes_.install);
  record.setup = std::chrono::duration_cast<microseconds>(Clock::now() - started_at_);
  observer_->on_end(record);
}

void tell_failure(PartFailure failure, RunRecord& record) {
  record.status = failure.status;
  record.exit_code = failure.exit_code;
  record.signal.reset();
  record.stop_signal = failure.stop_signal;
  record.error = std::move(failure.error);
  record.hint = std::move(failure.hint);
  record.error_type = std::move(failure.error_type);
  record.error_message = std::move(failure.error_message);
  record.traceback = std::move(failure.traceback);
}

RunRecord JobRun::record_so_far() const {
  RunRecord record;
  if (phase_ == Phase::running || phase_ == Phase::finishing) {
    record = run_.record_so_far();
    run_.tell_output(record);
  } else {
    record.id = job_.spec.id;
    record.language = job_.spec.language;
    record.limits = job_.spec.limits;
  }
  record.status = RunStatus::running;
  record.setup = preparing_;
  record.compile = notes_.compile;
  record.install = notes_.install;
  return record;
}

void JobRun::on_start(std::string_view run_id) { observer_->on_start(run_id); }

void JobRun::on_output(Stream stream, std::string_view bytes) {
  observer_->on_output(stream, bytes);
}

void JobRun::on_tree_gone(int box_directory, RunRecord& record, std::function<void()> resume) {
  at_ = 0;
  next_after(record, box_directory, std::move(resume));
}

void JobRun::next_after(RunRecord& record, int box_directory, std::function<void()> resume) {
  if (at_ == job_.parts.size()) {
    phase_ = Phase::running;
    return resume();
  }
  phase_ = Phase::finishing;
  JobPart& part = *job_.parts[at_++];
  part.after(loop_, box_directory, record,
             [this, &record, box_directory, resume = std::move(resume)]() mutable {
               next_after(record, box_directory, std::move(resume));
             });
}

void JobRun::on_end(const RunRecord& record) {
  phase_ = Phase::over;
  if (job_.parts.empty()) return observer_->on_end(record);
  RunRecord whole = record;
  whole.setup += preparing_;
  whole.compile = std::move(notes_.compile);
  whole.install = std::move(notes_.install);
  observer_->on_end(whole);
}

void StageRun::start(RunSpec spec, TreeGone tree_gone, Ended ended) {
  tree_gone_ = std::move(tree_gone);
  ended_ = std::move(ended);
  run_.start(std::move(spec), *this);
}

void StageRun::on_tree_gone(int box_directory, RunRecord& record, std::function<void()> resume) {
  if (tree_gone_) tree_gone_(box_directory, record);
  resume();
}

StageRecord stage_record_of(const RunRecord& record) {
  StageRecord stage;
  stage.status = record.status;
  stage.exit_code = record.exit_code;
  stage.signal = record.signal;
  stage.out = record.out.text;
  stage.err = record.err.text;
  stage.duration = record.duration;
  stage.cpu = record.cpu;
  stage.memory_peak_bytes = record.memory_peak_bytes;
  stage.error = record.error;
  return stage;
}

}  // namespace wardcase::supervisor
