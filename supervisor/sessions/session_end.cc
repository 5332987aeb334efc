// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <signal.h>

#include <algorithm>
#include <utility>

#include "supervisor/sessions/session.h"

// How programs of a session are ended, and the session itself.
namespace wardcase::supervisor {

namespace {

using agent::Whom;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kInterruptPatience{1000};
constexpr seconds kAgentPatience{5};

}  // namespace

void Session::finish_running() {
  loop_.cancel(std::exchange(end_timer_, 0));
  loop_.cancel(std::exchange(input_timer_, 0));
  if (Interpreter* const interpreter = running_interpreter()) {
    interpreter->worker->pause_output(false);  // whoever was too slow for it
  }
  finished_ = std::move(running_);
  running_worker_ = 0;
  ending_ = Ending::no;
  finished_->settle();
  if (box_phase_ != BoxPhase::alive) return tell_finished();
  news_.collect(finished_->record(), [this] { tell_finished(); });
}

void Session::tell_finished() {
  const std::unique_ptr<Execution> over = std::move(finished_);
  idle_since_ = Clock::now();
  over->finish();
  step_later();
}

bool Session::interrupt(std::string_view exec_id) {
  if (!installing_for_.empty() && (exec_id.empty() || installing_for_ == exec_id)) {
    stop(std::string(installing_for_), SIGINT);
    return true;
  }
  if (!running_ || (!exec_id.empty() && running_->request().id != exec_id)) return false;
  running_->set_cause(RunStatus::stopped, "interrupted", SIGINT);
  if (ending_ == Ending::no) end_running(Ending::interrupted);
  return true;
}

void Session::stop(std::string_view exec_id, int signal) {
  if (running_ && running_->request().id == exec_id) {
    running_->set_cause(RunStatus::stopped, "stopped by " + signal_name(signal), signal);
    return end_running(ending_ == Ending::no ? Ending::interrupted : Ending::killed);
  }
  const auto found = std::ranges::find_if(
      queue_, [&](const auto& waiting) { return waiting->request().id == exec_id; });
  if (found == queue_.end()) return;
  if (installing_for_ == exec_id) {  // told once that has ended
    (*found)->set_cause(RunStatus::stopped, "stopped by " + signal_name(signal), signal);
    return environments_.stop(signal);
  }
  const std::unique_ptr<Execution> stopped = std::move(*found);
  queue_.erase(found);
  stopped->set_cause(RunStatus::stopped, "stopped by " + signal_name(signal), signal);
  stopped->finish();
}

// Each step waits for the program's end, and goes on to the next after its patience.
void Session::end_running(Ending how) {
  ending_ = how;
  loop_.cancel(std::exchange(end_timer_, 0));
  switch (how) {
    case Ending::no:
      return;
    case Ending::interrupted:
      if (has_begun_) (void)agent_->signal(running_worker_, SIGINT, Whom::group);
      end_timer_ =
          loop_.at(Clock::now() + kInterruptPatience, [this] { end_running(Ending::terminated); });
      return;
    case Ending::terminated:
      (void)agent_->signal(running_worker_, SIGTERM, Whom::group);
      end_timer_ = loop_.at(Clock::now() + running_->request().limits.grace(),
                            [this] { end_running(Ending::killed); });
      return;
    case Ending::killed:
      return kill_everyone();
  }
}

void Session::reset() {
  stop_installing();
  fail_queued(RunStatus::stopped, "the session was reset", SIGTERM);
  if (running_) running_->set_cause(RunStatus::stopped, "the session was reset", SIGTERM);
  if (box_phase_ == BoxPhase::alive) kill_everyone();
}

void Session::kill_everyone() {
  if (std::exchange(is_resetting_, true)) return;
  ending_ = Ending::killed;
  if (const auto sent = agent_->signal(0, SIGKILL, Whom::everyone); !sent) {
    return give_up_box(sent.error().message());
  }
  agent_timer_ =
      loop_.at(Clock::now() + kAgentPatience, [this] { give_up_box("its agent does not answer"); });
}

void Session::on_everyone_gone(const agent::EveryoneGone& gone) {
  if (!is_resetting_) return;
  loop_.cancel(std::exchange(agent_timer_, 0));
  if (gone.error != 0) return give_up_box("not all of its processes could be ended");
  is_resetting_ = false;
  step_later();
}

// The box is of no use any more. What it held goes with it; the next program gets a new one.
void Session::give_up_box(const std::string& why) {
  if (box_ == nullptr) return;
  box_ended_because_ = why;
  box_phase_ = BoxPhase::ending;
  box_->stop(SIGTERM);
  box_->stop(SIGTERM);  // without patience
}

void Session::close() {
  if (std::exchange(is_closing_, true)) return;
  fail_queued(RunStatus::stopped, "the session was ended", SIGTERM);
  tell_waiters(tl::unexpected(sys::plain_error("the session ends")));
  if (running_) running_->set_cause(RunStatus::stopped, "the session was ended", SIGTERM);
  stop_installing();
  if (box_ != nullptr) return give_up_box("the session ends");
  loop_.post([this, alive = alive_] {
    if (*alive) end_when_nothing_is_left();
  });
}

// The last of both to end calls this.
void Session::end_when_nothing_is_left() {
  if (box_phase_ != BoxPhase::none || environments_.is_adding()) return;
  if (!std::exchange(is_closed_, true)) on_closed_();
}

void Session::fail_queued(RunStatus status, const std::string& error, int stop_signal) {
  for (const auto& waiting : std::exchange(queue_, {})) {
    waiting->set_cause(status, error, stop_signal);
    waiting->finish();
  }
  idle_since_ = Clock::now();
}

// Of the first that waits, which alone things are started for.
void Session::fail_front(RunStatus status, const std::string& error) {
  loop_.cancel(std::exchange(start_timer_, 0));
  step_later();
  if (queue_.empty()) return;
  const std::unique_ptr<Execution> failed = std::move(queue_.front());
  queue_.pop_front();
  failed->set_cause(status, error);
  failed->finish();
}

void Session::give_up_start() {
  start_timer_ = 0;
  fail_front(RunStatus::setup_failed, "the interpreter was not ready after 30 s");
  kill_everyone();
}

}  // namespace wardcase::supervisor
