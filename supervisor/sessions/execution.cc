// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/sessions/execution.h"

#include <signal.h>

#include <algorithm>
#include <utility>

#include "policies/units.h"
#include "supervisor/languages/source_error.h"

namespace wardcase::supervisor {

namespace {

using policies::LimitId;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr milliseconds kShortestCheck{10};
constexpr milliseconds kLongestCheck{500};

milliseconds time_of(const policies::Limits& limits, LimitId id) {
  return milliseconds(limits.get(id).value_or(0));
}

// Those that came since `before` was looked at.
std::vector<DeniedCall> calls_since(const std::vector<DeniedCall>& before,
                                    std::vector<DeniedCall> now) {
  for (DeniedCall& call : now) {
    const auto known = std::ranges::find(before, call.name, &DeniedCall::name);
    if (known != before.end()) call.count -= known->count;
  }
  std::erase_if(now, [](const DeniedCall& call) { return call.count == 0; });
  return now;
}

}  // namespace

Execution::Execution(EventLoop& loop, ExecRequest request, ExecObserver* observer)
    : loop_(loop), request_(std::move(request)), observer_(observer), asked_at_(Clock::now()) {
  record_.id = request_.id;
  record_.language = request_.language;
  record_.limits = request_.limits;
  record_.status = RunStatus::running;
  transcript_.keep(request_.limits.get(LimitId::capture).value_or(2));
}

void Execution::note_install(std::optional<StageRecord> install, Clock::duration took) {
  record_.install = std::move(install);
  preparing_ = took;
}

void Execution::begin(Run& box, LimitPassed limit_passed) {
  box_ = &box;
  limit_passed_ = std::move(limit_passed);
  began_at_ = last_output_at_ = Clock::now();
  record_.queued = std::chrono::duration_cast<microseconds>(began_at_ - asked_at_ - preparing_);
  record_.setup = std::chrono::duration_cast<microseconds>(preparing_);
  const BoxUsage usage = box.usage();
  cpu_before_ = usage.cpu;
  oom_kills_before_ = usage.oom_kills.value_or(0);
  denied_before_ = box.denied_calls().value_or(std::vector<DeniedCall>());
  record_.enforced_by = box.record_so_far().enforced_by;
  for (const LimitId id : {LimitId::timeout, LimitId::cpu_time, LimitId::idle_timeout,
                           LimitId::output, LimitId::capture, LimitId::grace}) {
    record_.enforced_by[static_cast<std::size_t>(id)] = sandbox::Enforcement::watcher;
  }
  record_.isolation = box.record_so_far().isolation;
  if (observer_ != nullptr) observer_->on_start(request_.id);
  const milliseconds timeout = time_of(request_.limits, LimitId::timeout);
  if (request_.limits.get(LimitId::timeout)) {
    wall_timer_ = loop_.at(began_at_ + timeout, [this, timeout] {
      pass_limit(LimitId::timeout, RunStatus::timeout,
                 "not done after " + policies::format_duration(timeout));
    });
  }
  if (request_.limits.get(LimitId::idle_timeout)) check_idle();
  if (request_.limits.get(LimitId::cpu_time)) check_cpu();
}

void Execution::close_box() {
  measure();
  box_ = nullptr;
}

void Execution::on_output(Stream stream, std::string_view bytes) {
  last_output_at_ = Clock::now();
  const auto most = request_.limits.get(LimitId::output);
  const std::string_view within = transcript_.take(stream, bytes, most);
  if (!within.empty() && observer_ != nullptr) observer_->on_output(stream, within);
  if (within.size() == bytes.size()) return;
  pass_limit(LimitId::output, RunStatus::output_limit,
             std::string(stream == Stream::out ? "stdout" : "stderr") + " passed its limit of " +
                 policies::format_size(*most));
}

void Execution::tell_waiting() {
  if (observer_ != nullptr) observer_->on_waiting_for_input();
}

void Execution::set_cause(RunStatus status, std::string error, int stop_signal) {
  if (std::exchange(has_cause_, true)) return;
  record_.status = status;
  record_.error = std::move(error);
  record_.stop_signal = stop_signal;
}

void Execution::set_cause(PartFailure failure) {
  if (has_cause_) return;
  set_cause(failure.status, std::move(failure.error), failure.stop_signal);
  record_.hint = std::move(failure.hint);
  record_.exit_code = failure.exit_code;
}

void Execution::note_limit(LimitId id) {
  const std::string key(policies::limit_row(id).key);
  if (std::ranges::find(record_.limits_hit, key) == record_.limits_hit.end()) {
    record_.limits_hit.push_back(key);
  }
}

void Execution::pass_limit(LimitId id, RunStatus status, std::string error) {
  if (has_cause_) return;
  note_limit(id);
  set_cause(status, std::move(error));
  limit_passed_();
}

void Execution::check_idle() {
  const milliseconds allowed = time_of(request_.limits, LimitId::idle_timeout);
  if (Clock::now() >= last_output_at_ + allowed) {
    return pass_limit(LimitId::idle_timeout, RunStatus::idle,
                      "no output for " + policies::format_duration(allowed));
  }
  idle_timer_ = loop_.at(last_output_at_ + allowed, [this] { check_idle(); });
}

void Execution::check_cpu() {
  if (box_ == nullptr) return;
  const milliseconds allowed = time_of(request_.limits, LimitId::cpu_time);
  const microseconds used = box_->usage().cpu - cpu_before_;
  if (used >= allowed) {
    return pass_limit(LimitId::cpu_time, RunStatus::cpu_time,
                      "cpu time limit of " + policies::format_duration(allowed) + " reached");
  }
  const auto next = std::clamp(std::chrono::duration_cast<milliseconds>(allowed - used) / 4,
                               kShortestCheck, kLongestCheck);
  cpu_timer_ = loop_.at(Clock::now() + next, [this] { check_cpu(); });
}

const std::string& Execution::renew_nonce() {
  nonce_ = make_id("");
  return nonce_;
}

void Execution::begin_prelude(std::string name) {
  prelude_ = std::move(name);
  told_.prelude = PreludeState::begun;
}

void Execution::refuse_syntax(const ToldError& error) {
  set_cause(RunStatus::syntax_error, "");
  if (record_.status != RunStatus::syntax_error) return;
  PartFailure failure = {.status = RunStatus::syntax_error};
  failure.error_type = "SyntaxError";
  tell_error(
      {.file = request_.name, .line = error.line, .column = error.column, .text = error.message},
      request_.name, request_.code, failure);
  tell_failure(std::move(failure), record_);
}

void Execution::on_done(WorkerDone done) {
  done.error.prelude = told_.prelude;
  told_ = std::move(done.error);
  record_.result = std::move(done.result);
  record_.exit_code = done.exit_code;
  if (!done.ends) set_cause(RunStatus::exited, "");
}

void Execution::on_interpreter_end(std::optional<int> exit_code, std::optional<int> signal) {
  record_.session_ended = true;
  if (has_cause_ && record_.status == RunStatus::exited) return;  // of a prelude: we ended it
  if (signal || !record_.exit_code) record_.exit_code = exit_code;
  record_.signal = signal;
  if (exit_code) return set_cause(RunStatus::exited, "");
  const bool is_out_of_memory =
      box_ != nullptr && box_->usage().oom_kills.value_or(0) > oom_kills_before_;
  if (signal == SIGKILL && is_out_of_memory) {
    note_limit(LimitId::memory);
    return set_cause(
        RunStatus::oom,
        "out of memory: limit " +
            policies::format_size(box_->record_so_far().limits.get(LimitId::memory).value_or(0)));
  }
  if (signal) set_cause(RunStatus::signaled, "ended by " + signal_name(*signal));
}

// What only the box can tell.
void Execution::measure() {
  if (box_ == nullptr) return;
  const BoxUsage usage = box_->usage();
  record_.cpu = usage.cpu - cpu_before_;
  record_.memory_peak_bytes = usage.memory_peak_bytes;
  record_.processes_peak = usage.processes_peak;
  if (usage.oom_kills) record_.oom_kills = *usage.oom_kills - oom_kills_before_;
  if (auto calls = box_->denied_calls()) {
    record_.denied_syscalls = calls_since(denied_before_, *std::move(calls));
  }
}

void Execution::settle() {
  if (std::exchange(is_settled_, true)) return;
  release_timers();
  if (began_at_ != Clock::time_point()) {
    record_.duration = std::chrono::duration_cast<microseconds>(Clock::now() - began_at_);
  }
  measure();
  box_ = nullptr;
  transcript_.tell(record_);
  describe_error(told_, {.has_stdin = request_.open_input, .prelude = prelude_}, record_);
}

void Execution::finish() {
  settle();
  if (observer_ != nullptr) observer_->on_end(record_);
}

RunRecord Execution::so_far() const {
  RunRecord record = record_;
  record.status = RunStatus::running;
  record.duration = std::chrono::duration_cast<microseconds>(Clock::now() - began_at_);
  transcript_.tell(record);
  return record;
}

void Execution::release_timers() {
  for (EventLoop::TimerId* timer : {&wall_timer_, &idle_timer_, &cpu_timer_}) {
    loop_.cancel(std::exchange(*timer, 0));
  }
}

}  // namespace wardcase::supervisor
