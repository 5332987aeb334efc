// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/server/batch_plan.h"
#include "supervisor/server/case_run.h"
#include "supervisor/server/known_work.h"

namespace wardcase::supervisor {

// A batch that the service was asked for: its program is got ready once, then its cases run side by
// side. No more of them are in the queue than could run at a time, so that what others ask for
// finds room there.
class KnownBatch : public KnownWork {
 public:
  struct Listener {
    // Of each case.
    std::function<void(const KnownBatch& batch, const RunRecord& record)> on_record;
    std::function<void(const KnownBatch& batch)> on_ended;  // once, last; not within begin()
  };

  KnownBatch(EventLoop& loop, RunQueue& queue, RunTerms terms, BatchPlan plan, Listener listener);
  ~KnownBatch() override;

  // False: the queue is full. An error is ours.
  [[nodiscard]] sys::Result<bool> begin();
  void stop() override { stop_because("the batch was stopped"); }
  // Nothing of it begins any more; who drains the queue ends what runs.
  void begin_drain();

  [[nodiscard]] std::string path() const override { return "/v1/batches/" + id(); }
  // With all cases that are decided, in the order of the request.
  [[nodiscard]] std::string record() const override;
  [[nodiscard]] std::string_view status_text() const override { return status_; }
  // What it may hold until its end.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  void settle_pace() override {}  // all of its log is kept

  [[nodiscard]] sys::Result<bool> prepare();
  [[nodiscard]] PreparedProgram* next_to_prepare() const;
  void on_prepared(const RunRecord* record);
  void advance();
  void advance_later();
  void begin_cases();
  [[nodiscard]] bool may_begin_another() const;
  void on_case(std::size_t index, CaseOutcome outcome);
  void decide(std::size_t index, CaseOutcome outcome);
  void tell_case(std::size_t index, CaseOutcome outcome);
  void skip_after(std::size_t index);
  void stop_because(std::string why);
  void stop_what_runs();
  void note_drain();
  [[nodiscard]] std::chrono::microseconds since_begun() const;
  void fail(const RunRecord& record);
  void finish();
  [[nodiscard]] std::string head_members() const;

  RunQueue& queue_;
  BatchPlan plan_;
  Listener listener_;
  std::uint64_t bytes_;
  std::size_t count_;
  bool stops_early_;

  std::size_t prepared_ = 0;  // programs
  std::unique_ptr<PreparationRun> preparation_;
  std::size_t next_ = 0;  // the case that begins next
  std::map<std::size_t, std::unique_ptr<CaseRun>> running_;
  std::map<std::size_t, CaseOutcome> held_;  // until those before them are decided
  std::size_t told_in_order_ = 0;
  EventLoop::TimerId retry_ = 0;

  bool is_stopping_ = false;
  std::string why_skipped_;               // cases that have not ended
  std::optional<std::size_t> cut_after_;  // the first that has failed, where none counts after it
  RunRecord unready_;                     // why the program can't be run
  std::string_view status_ = "running";

  std::vector<std::uint64_t> lines_;  // of each case in the log; 0: it is not decided
  std::uint64_t record_bytes_ = 0;
  std::size_t passed_ = 0;
  std::size_t wrong_ = 0;
  std::size_t failed_ = 0;
  std::size_t skipped_ = 0;
  std::optional<std::size_t> first_failed_;
  std::optional<StageRecord> compile_;
  std::optional<StageRecord> install_;
  std::chrono::microseconds queued_{0};
  Clock::time_point begun_at_;
  std::chrono::microseconds duration_{0};
};

}  // namespace wardcase::supervisor
