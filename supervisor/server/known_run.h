// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
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

// What a known run consists of where it is none of the queue's: a program in a session. It tells
// the run what happens.
class OtherWork {
 public:
  OtherWork() = default;
  OtherWork(const OtherWork&) = delete;
  OtherWork& operator=(const OtherWork&) = delete;
  virtual ~OtherWork() = default;

  virtual void stop() = 0;
  virtual void set_paused(bool is_paused) = 0;
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
  // In its place, for a run that is not the queue's. `waiting` is its record for now.
  void begin_elsewhere(RunRecord waiting, std::unique_ptr<OtherWork> work);
  // In its place: there is nothing to run, and this is its record.
  void end_with(const RunRecord& record);
  // In its place: what is known of that one, whose end is `lost` if it had none; then `ended` is
  // called.
  void restore(PastRun past);
  void stop() override;
  // What is done elsewhere: it was taken to be done; it begins; a line of its log, of which the
  // last one has the record; what is known of its end besides; it was never taken.
  void note_taken();
  void note_begun() { state_ = WorkState::running; }
  void take_line(std::string_view line);
  void end_elsewhere(const RunRecord& outline);
  void fail(RunFailure failure);

  [[nodiscard]] bool is_elsewhere() const { return elsewhere_ != nullptr; }
  // It is certain that it will have a record.
  [[nodiscard]] bool is_taken() const { return is_taken_; }

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
  void let_go_of_work();
  void end(const RunRecord* record);
  void settle_pace() override;

  RunQueue& queue_;
  Ended ended_;
  RunRecord waiting_;  // what its record is until it begins
  RunQueue::Ticket ticket_ = 0;
  std::shared_ptr<OtherWork> elsewhere_;
  RunStatus status_ = RunStatus::running;
  bool is_taken_ = true;
  bool is_paused_ = false;
  bool is_stopping_ = false;
  bool is_late_ = false;
};

}  // namespace wardcase::supervisor
