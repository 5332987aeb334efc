// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/ioctl.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "supervisor/languages/job.h"
#include "supervisor/run/run.h"

namespace wardcase::supervisor {

// A job from its first part to its record, as a Run is of one program: same calls, same promises.
class JobRun : private RunObserver {
 public:
  JobRun(EventLoop& loop, Host& host) : loop_(loop), host_(host), run_(loop, host) {}

  // Begins. Every failure is told by on_end, in a later turn of the loop; on_start is told only
  // where the program itself began. `observer` outlives this.
  void start(Job job, RunObserver& observer);
  void stop(int signal);
  void pause_output(Stream stream) { run_.pause_output(stream); }
  void resume_output(Stream stream) { run_.resume_output(stream); }
  void set_frozen(bool frozen) { run_.set_frozen(frozen); }
  void resize_terminal(const winsize& size);
  [[nodiscard]] std::vector<TimedStep> timing() const { return run_.timing(); }
  [[nodiscard]] std::optional<bool> is_waiting_for_input() const {
    return run_.is_waiting_for_input();
  }
  [[nodiscard]] std::uint64_t input_bytes() const { return run_.input_bytes(); }
  // Before on_end: what would be its record if control was handed back now (`running`).
  [[nodiscard]] RunRecord record_so_far() const;

 private:
  enum class Phase { waiting, preparing, running, finishing, over };

  void next_part();
  void on_part_done(std::optional<PartFailure> failure);
  void give_up(PartFailure failure);
  void next_after(RunRecord& record, int box_directory, std::function<void()> resume);

  void on_start(std::string_view run_id) override;
  void on_output(Stream stream, std::string_view bytes) override;
  void on_tree_gone(int box_directory, RunRecord& record, std::function<void()> resume) override;
  void on_end(const RunRecord& record) override;

  EventLoop& loop_;
  Host& host_;
  Run run_;
  Job job_;
  StageNotes notes_;
  RunObserver* observer_ = nullptr;
  Phase phase_ = Phase::waiting;
  std::size_t at_ = 0;  // the part that is under way
  int stop_signal_ = 0;
  Clock::time_point started_at_;
  std::chrono::microseconds preparing_{0};
};

// A run of one of a job's parts: no output but in its record.
class StageRun : private RunObserver {
 public:
  // Either may be empty. `tree_gone`: as RunObserver::on_tree_gone, and over when it returns.
  using TreeGone = std::function<void(int box_directory, RunRecord& record)>;
  using Ended = std::function<void(const RunRecord& record)>;

  StageRun(EventLoop& loop, Host& host) : run_(loop, host) {}
  // `ended` is called once, in a later turn of the loop, and may not destroy this.
  void start(RunSpec spec, TreeGone tree_gone, Ended ended);
  void stop(int signal) { run_.stop(signal); }

 private:
  void on_start(std::string_view) override {}
  void on_output(Stream, std::string_view) override {}
  void on_tree_gone(int box_directory, RunRecord& record, std::function<void()> resume) override;
  void on_end(const RunRecord& record) override { ended_(record); }

  Run run_;
  TreeGone tree_gone_;
  Ended ended_;
};

// What a stage's run says of itself.
[[nodiscard]] StageRecord stage_record_of(const RunRecord& record);

}  // namespace wardcase::supervisor
