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
#include <vector>

#include "supervisor/run/event_loop.h"
#include "supervisor/server/run_log.h"
#include "supervisor/server/run_queue.h"

namespace wardcase::supervisor {

class RunReader;

enum class RunState : std::uint8_t { queued, running, ended };
[[nodiscard]] std::string_view run_state_name(RunState state);

// Codes of runs that never began, or whose session has ended.
inline constexpr std::string_view kDraining = "draining";
inline constexpr std::string_view kSessionEnded = "session_ended";
inline constexpr std::string_view kDeadlinePassed = "deadline_passed";

// What who asks for a run says of it, besides the run itself.
struct RunTerms {
  std::string owner;  // a caller's name
  OutputForm form = OutputForm::text;
  bool is_detached = false;  // it goes on when nobody waits for it any more
  std::optional<std::chrono::milliseconds> deadline;  // for all of it, from now on
  std::string trace;                                  // the id of a trace, or ""
  std::string kind = "run";                           // or "exec", for those who note what ran
  std::string policy;                                 // its name
  std::string network;
  std::string code_sha256;
  std::string key;          // of idempotency, or ""
  std::string fingerprint;  // of what was asked under that key
};

// Why there is no record.
struct RunFailure {
  std::string code;  // of a problem
  std::string message;
  int status = 503;
  std::string field = "";
};

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

// A run that the service was asked for: from the queue to its end, and for a while after that.
class KnownRun : private QueueObserver {
 public:
  using Ended = std::function<void(const RunRecord* record)>;  // nullptr: it failed

  // `ended` is called once, when it is over; not from within begin().
  KnownRun(EventLoop& loop, RunQueue& queue, RunTerms terms, Ended ended);
  KnownRun(const KnownRun&) = delete;
  KnownRun& operator=(const KnownRun&) = delete;
  ~KnownRun() override;

  // False: the queue is full.
  [[nodiscard]] bool begin(Job job, std::uint64_t bytes);
  // In its place, for a run that is not the queue's. `waiting` is its record for now.
  void begin_elsewhere(RunRecord waiting, std::unique_ptr<OtherWork> work);
  // In its place: there is nothing to run, and this is its record.
  void end_with(const RunRecord& record);
  // In its place: what is known of that one, whose end is `lost` if it had none; then `ended` is
  // called.
  void restore(PastRun past);
  void stop();
  // What is done elsewhere: it was taken to be done; it begins; a line of its log, of which the
  // last one has the record; what is known of its end besides; it was never taken.
  void note_taken();
  void note_begun() { state_ = RunState::running; }
  void take_line(std::string_view line);
  void end_elsewhere(const RunRecord& outline);
  void fail(RunFailure failure);
  // From now on it does not depend on who waits for it.
  void detach() { terms_.is_detached = true; }

  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] const RunTerms& terms() const { return terms_; }
  [[nodiscard]] RunState state() const { return state_; }
  [[nodiscard]] bool is_elsewhere() const { return elsewhere_ != nullptr; }
  // It is certain that it will have a record.
  [[nodiscard]] bool is_taken() const { return is_taken_; }
  [[nodiscard]] const RunLog& log() const { return log_; }
  [[nodiscard]] const std::optional<RunFailure>& failure() const { return failure_; }
  // The record as JSON; before the end what is known so far (`running`). Not of one that failed.
  [[nodiscard]] std::string record() const;
  [[nodiscard]] RunStatus status() const { return status_; }
  [[nodiscard]] const std::optional<std::string>& language() const { return language_; }
  [[nodiscard]] std::chrono::system_clock::time_point created() const { return created_; }
  [[nodiscard]] Clock::time_point ended_at() const { return ended_at_; }
  [[nodiscard]] std::chrono::system_clock::time_point ended() const {
    return std::chrono::system_clock::now() -
           std::chrono::duration_cast<std::chrono::system_clock::duration>(Clock::now() -
                                                                           ended_at_);
  }
  // It was stopped as nobody waited for it any more.
  [[nodiscard]] bool is_abandoned() const { return is_abandoned_; }
  [[nodiscard]] bool has_readers() const { return !readers_.empty(); }

 private:
  friend class RunReader;

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
  void conclude();
  void end(const RunRecord* record);
  void tell();
  void leave(RunReader& reader);
  void settle_pace();

  EventLoop& loop_;
  RunQueue& queue_;
  RunTerms terms_;
  Ended ended_;
  std::string id_;
  std::optional<std::string> language_;
  RunRecord waiting_;  // what its record is until it begins
  RunQueue::Ticket ticket_ = 0;
  std::shared_ptr<OtherWork> elsewhere_;
  RunState state_ = RunState::queued;
  RunStatus status_ = RunStatus::running;
  RunLog log_;
  std::optional<RunFailure> failure_;
  std::vector<RunReader*> readers_;
  bool is_taken_ = true;
  bool is_paused_ = false;
  bool is_stopping_ = false;
  bool is_late_ = false;
  bool is_abandoned_ = false;
  EventLoop::TimerId deadline_ = 0;
  std::chrono::system_clock::time_point created_;
  Clock::time_point asked_at_;
  Clock::time_point ended_at_;
};

// Somebody who follows a run. It goes before the run does.
class RunReader {
 public:
  enum class Bond : std::uint8_t {
    none,   // the run does not care
    waits,  // for the end: a run that nobody waits for any more is stopped, if not detached
    reads,  // that as well, and its output comes no faster than it is read
  };
  // `more` is called when there is something new, and may destroy this.
  RunReader(KnownRun& run, std::uint64_t after, Bond bond, std::function<void()> more);
  RunReader(const RunReader&) = delete;
  RunReader& operator=(const RunReader&) = delete;
  ~RunReader();

  [[nodiscard]] KnownRun& run() const { return run_; }
  // The number of the line that was read last.
  [[nodiscard]] std::uint64_t position() const { return position_; }
  // The next line, with its line break; where lines are missing in between, one that says so.
  // nullopt: there is none yet, or none any more.
  [[nodiscard]] std::optional<std::string> next();
  // No more will come.
  [[nodiscard]] bool is_over() const;

 private:
  friend class KnownRun;

  KnownRun& run_;
  std::uint64_t position_;
  Bond bond_;
  std::function<void()> more_;
};

}  // namespace wardcase::supervisor
