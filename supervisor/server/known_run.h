// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "supervisor/server/known_work.h"
#include "supervisor/server/run_queue.h"

namespace wardcase::supervisor {

// A run of a service that has died.
struct PastRun {
  struct End {
    RunStatus status = RunStatus::running;
    std::chrono::system_clock::time_point at;
    std::optional<RunFailure> failure;
    std::string last;  // its last event
    bool is_abandoned = false;
  };
  RunTerms terms;
  std::string id;
  std::optional<std::string> language;
  std::chrono::system_clock::time_point created;
  std::optional<End> end;  // nullopt: it died with that service
};

// A run that the service was asked for.
class KnownRun : public KnownWork, private QueueObserver {
 public:
  using Ended =
      std::function<void(const KnownRun& run, const RunRecord* record)>;  // nullptr: it failed

  // `ended` is called once, when it is over; not from within begin().
  KnownRun(EventLoop& loop, RunQueue& queue, RunTerms terms, Ended ended);

  // False: the queue is full.
  [[nodiscard]] bool begin(Job job, std::uint64_t bytes);
  // In its place: there is nothing to run, and this is its record.
  void end_with(const RunRecord& record);
  // In its place: what is known of that one, whose end is `lost` if it had none; then `ended` is
  // called.
  void restore(PastRun past);
  void stop() override;

  [[nodiscard]] std::string path() const override { return "/v1/runs/" + id(); }
  // Before the end it is `running`.
  [[nodiscard]] std::string record() const override;
  [[nodiscard]] RunStatus status() const { return status_; }
  [[nodiscard]] std::string_view status_text() const override { return status_name(status_); }

 private:
  void on_begun() override;
  void on_start(std::string_view run_id) override {
    log_.events().on_start(run_id);
    tell();
  }
  void on_output(Stream stream, std::string_view bytes) override;
  void on_end(const RunRecord& record) override;
  void on_given_up() override;

  void on_deadline();
  // Stops it; true: it had not begun, and does not.
  bool leaves_queue();
  void fail(RunFailure failure);
  void end(const RunRecord* record);
  void settle_pace() override;

  RunQueue& queue_;
  Ended ended_;
  RunRecord waiting_;  // what its record is until it begins
  RunQueue::Ticket ticket_ = 0;
  RunStatus status_ = RunStatus::running;
  bool is_paused_ = false;
  bool is_stopping_ = false;
  bool is_late_ = false;
};

}  // namespace wardcase::supervisor
