// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/run/event_loop.h"
#include "supervisor/server/run_log.h"
#include "supervisor/server/run_queue.h"

namespace wardcase::supervisor {

class WorkReader;

enum class WorkState : std::uint8_t { queued, running, ended };
[[nodiscard]] std::string_view work_state_name(WorkState state);

// Codes of what never began, or whose session has ended.
inline constexpr std::string_view kDraining = "draining";
inline constexpr std::string_view kSessionEnded = "session_ended";
inline constexpr std::string_view kDeadlinePassed = "deadline_passed";
inline constexpr std::string_view kLate = "the deadline of the request has passed";

// What who asks for a run says of it, besides the run itself.
struct RunTerms {
  std::string owner;  // a caller's name
  RunQueue::OwnersMost most = {};
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

// What the service was asked for, a run or a batch: from the queue to its end, and for a while
// after that. Those who follow it read its log.
class KnownWork {
 public:
  KnownWork(EventLoop& loop, RunTerms terms, std::size_t most_bytes_of_log);
  KnownWork(const KnownWork&) = delete;
  KnownWork& operator=(const KnownWork&) = delete;
  virtual ~KnownWork();

  virtual void stop() = 0;
  // Where requests find it, as "/v1/runs/run_...".
  [[nodiscard]] virtual std::string path() const = 0;
  // What it came to, as JSON; before its end what is known so far. Not of one that failed.
  [[nodiscard]] virtual std::string record() const = 0;
  // As the record has it.
  [[nodiscard]] virtual std::string_view status_text() const = 0;

  // From now on it does not depend on who waits for it.
  void detach() { terms_.is_detached = true; }

  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] const RunTerms& terms() const { return terms_; }
  [[nodiscard]] WorkState state() const { return state_; }
  [[nodiscard]] const RunLog& log() const { return log_; }
  [[nodiscard]] const std::optional<RunFailure>& failure() const { return failure_; }
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

 protected:
  // Those who follow it hear that there is something new.
  void tell();
  // What the one is behind who is furthest so, of those whose bond it is to read.
  [[nodiscard]] std::size_t bytes_behind() const;
  // Has `passed` called when the deadline has; nothing where there is none, or at its end.
  void watch_deadline(std::function<void()> passed);
  [[nodiscard]] std::chrono::microseconds since_asked() const;
  void note_end();

  EventLoop& loop_;
  RunTerms terms_;
  std::string id_;
  std::optional<std::string> language_;
  WorkState state_ = WorkState::queued;
  RunLog log_;
  std::optional<RunFailure> failure_;
  bool is_abandoned_ = false;
  std::chrono::system_clock::time_point created_;
  Clock::time_point ended_at_;

 private:
  friend class WorkReader;

  // Somebody has read on, or reads no more.
  virtual void settle_pace() = 0;
  void leave(WorkReader& reader);

  std::vector<WorkReader*> readers_;
  EventLoop::TimerId deadline_ = 0;
  Clock::time_point asked_at_;
};

// Somebody who follows it. It goes before the other does.
class WorkReader {
 public:
  enum class Bond : std::uint8_t {
    none,   // it does not care
    waits,  // for the end: what nobody waits for any more is stopped, if not detached
    reads,  // that as well, and output comes no faster than it is read
  };
  // `more` is called when there is something new, and may destroy this.
  WorkReader(KnownWork& work, std::uint64_t after, Bond bond, std::function<void()> more);
  WorkReader(const WorkReader&) = delete;
  WorkReader& operator=(const WorkReader&) = delete;
  ~WorkReader();

  // The number of the line that was read last.
  [[nodiscard]] std::uint64_t position() const { return position_; }
  // The next line, with its line break; where lines are missing in between, one that says so.
  // nullopt: there is none yet, or none any more.
  [[nodiscard]] std::optional<std::string> next();
  // No more will come.
  [[nodiscard]] bool is_over() const;

 private:
  friend class KnownWork;

  KnownWork& work_;
  std::uint64_t position_;
  Bond bond_;
  std::function<void()> more_;
};

}  // namespace wardcase::supervisor
