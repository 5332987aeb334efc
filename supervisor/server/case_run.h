// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "supervisor/server/batch_plan.h"
#include "supervisor/server/case_outcome.h"
#include "supervisor/server/checker_part.h"
#include "supervisor/server/run_queue.h"

namespace wardcase::supervisor {

// A job of a batch on its way through the queue: the preparation of a program, or a case.
class BatchJob : protected QueueObserver {
 public:
  explicit BatchJob(RunQueue& queue) : queue_(queue) {}

  // Asks it to end; a second time does nothing. What has not begun ends at once.
  void stop();

 protected:
  // False: the queue is full.
  [[nodiscard]] bool submit(RunQueue::Asked asked);

 private:
  void on_begun() override {}
  void on_start(std::string_view /*run_id*/) override {}
  void on_output(Stream /*stream*/, std::string_view /*bytes*/) override {}

  RunQueue& queue_;
  RunQueue::Ticket ticket_ = 0;
  bool is_stopping_ = false;
};

// Gets a program ready.
class PreparationRun : public BatchJob {
 public:
  // Either is called once at most, and may not destroy this. nullptr: it never began.
  using Begun = std::function<void()>;
  using Ended = std::function<void(const RunRecord* record)>;

  PreparationRun(RunQueue& queue, Begun begun, Ended ended)
      : BatchJob(queue), begun_(std::move(begun)), ended_(std::move(ended)) {}
  [[nodiscard]] bool begin(RunQueue::Asked asked) { return submit(std::move(asked)); }

 private:
  void on_begun() override { begun_(); }
  void on_end(const RunRecord& record) override { ended_(&record); }
  void on_given_up() override { ended_(nullptr); }

  Begun begun_;
  Ended ended_;
};

// Runs one case and judges it. What is expected of the program never leaves this process, but for
// the checker's box.
class CaseRun : public BatchJob {
 public:
  // Called once, and may not destroy this.
  using Ended = std::function<void(CaseOutcome outcome)>;

  // `plan` outlives this.
  CaseRun(RunQueue& queue, const BatchPlan& plan, std::size_t index, Ended ended);

  // False: the queue is full. An error is ours.
  [[nodiscard]] sys::Result<bool> begin(const std::string& owner);

 private:
  [[nodiscard]] sys::Result<Job> make_job();
  [[nodiscard]] sys::Status place_files(RunSpec& spec) const;
  [[nodiscard]] std::string_view input() const;
  [[nodiscard]] CaseOutcome judge(const RunRecord& record);
  void judge_by_checker(CaseOutcome& outcome);

  void on_output(Stream stream, std::string_view bytes) override;
  void on_end(const RunRecord& record) override { ended_(judge(record)); }
  void on_given_up() override { ended_(CaseOutcome()); }

  const BatchPlan& plan_;
  const BatchCase& case_;
  Ended ended_;
  std::unique_ptr<Comparator> comparator_;
  CheckedCase checked_;
  std::string lost_;  // why not all of the output could be kept; "": it was
};

}  // namespace wardcase::supervisor
