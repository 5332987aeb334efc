// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policies/limits.h"
#include "supervisor/languages/job.h"
#include "supervisor/languages/program.h"
#include "supervisor/languages/requirement.h"
#include "supervisor/languages/run_error.h"
#include "supervisor/run/event_loop.h"
#include "supervisor/run/run.h"
#include "supervisor/run/run_record.h"
#include "supervisor/run/transcript.h"
#include "supervisor/sessions/box_delivery.h"
#include "supervisor/sessions/worker_messages.h"

namespace wardcase::supervisor {

// One program for a session's interpreter.
struct ExecRequest {
  std::string id;        // run_...; chosen by the session where empty
  std::string language;  // a language's name
  std::string name;      // what tracebacks call it; chosen by the session where empty
  std::string code;
  policies::Limits limits;  // resolved: timeout, grace, cpu_time, idle_timeout, capture, output
  Validation validation = Validation::none;
  std::vector<Requirement> requirements;  // settled; installed before it begins
  bool open_input = false;  // its stdin waits for Session::input; else it reads the end of file
  std::unique_ptr<BoxDelivery> files;  // whole; in their places before it begins. nullptr: none
};

// Who asked for it and hears of it; on the loop's thread. A call may not destroy the session.
class ExecObserver {
 public:
  ExecObserver() = default;
  ExecObserver(const ExecObserver&) = delete;
  ExecObserver& operator=(const ExecObserver&) = delete;
  virtual ~ExecObserver() = default;

  virtual void on_start(std::string_view id) = 0;
  virtual void on_output(Stream stream, std::string_view bytes) = 0;
  // It is blocked reading its open stdin, and nothing is there to be read.
  virtual void on_waiting_for_input() = 0;
  // Exactly once, last of all.
  virtual void on_end(const RunRecord& record) = 0;
};

// What is known of a program under way in an interpreter, and its limits. It decides what has
// become of it; how it is ended is the session's.
class Execution {
 public:
  // `limit_passed` is called once, when a limit ends it.
  using LimitPassed = std::function<void()>;

  // `observer` may be nullptr: nobody listens.
  Execution(EventLoop& loop, ExecRequest request, ExecObserver* observer);
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;
  ~Execution() { release_timers(); }

  [[nodiscard]] const ExecRequest& request() const { return request_; }
  // Another each time that its interpreter is handed something: it knows that of before.
  [[nodiscard]] const std::string& renew_nonce();
  [[nodiscard]] const std::string& nonce() const { return nonce_; }
  [[nodiscard]] bool has_cause() const { return has_cause_; }
  [[nodiscard]] Clock::time_point last_output() const { return last_output_at_; }

  // What was installed for it, which took so long.
  void note_install(std::optional<StageRecord> install, Clock::duration took);
  // As set_cause(), with all that is known.
  void set_cause(PartFailure failure);
  // It runs from here. `box` outlives it, or close_box() is called before it goes.
  void begin(Run& box, LimitPassed limit_passed);
  void close_box();
  void on_output(Stream stream, std::string_view bytes);
  void tell_waiting();
  // Why it is to end; the first cause stands.
  void set_cause(RunStatus status, std::string error, int stop_signal = 0);
  void note_limit(policies::LimitId id);

  // Before it, in the same interpreter: a prelude of this name begins, and has done its work. One
  // that has not is told by on_done, and ends its interpreter.
  void begin_prelude(std::string name);
  void end_prelude() { told_.prelude = PreludeState::done; }
  // It is no program: nothing of it ran.
  void refuse_syntax(const ToldError& error);
  // What it came to, followed by finish(); where its interpreter ends with it, the limits stay in
  // force until that is told as well.
  void on_done(WorkerDone done);
  void on_interpreter_end(std::optional<int> exit_code, std::optional<int> signal);
  [[nodiscard]] RunRecord& record() { return record_; }
  // Nothing is counted any more: the record has all that is known of it here.
  void settle();
  // The same, where that was not done, and tells the observer.
  void finish();
  // The record as it stands while it goes on, with what was printed so far.
  [[nodiscard]] RunRecord so_far() const;

 private:
  void pass_limit(policies::LimitId id, RunStatus status, std::string error);
  void check_idle();
  void check_cpu();
  void measure();
  void release_timers();

  EventLoop& loop_;
  ExecRequest request_;
  ExecObserver* observer_;
  LimitPassed limit_passed_;
  Run* box_ = nullptr;
  std::string nonce_;
  RunRecord record_;
  Transcript transcript_;
  ToldError told_;
  std::string prelude_;  // its name, or ""
  bool has_cause_ = false;
  bool is_settled_ = false;
  Clock::time_point asked_at_;
  Clock::duration preparing_{0};
  Clock::time_point began_at_;
  Clock::time_point last_output_at_;
  std::chrono::microseconds cpu_before_{0};
  std::uint64_t oom_kills_before_ = 0;
  std::vector<DeniedCall> denied_before_;
  EventLoop::TimerId wall_timer_ = 0;
  EventLoop::TimerId idle_timer_ = 0;
  EventLoop::TimerId cpu_timer_ = 0;
};

}  // namespace wardcase::supervisor
