// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/sessions/session.h"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "supervisor/run/setup_failure.h"
#include "supervisor/sessions/interpreters.h"

// A session's life:
//
//   none --first program--> starting --agent executed--> alive --agent gone--> none, or closed
//
// and a program's: queued --interpreter ready--> running --done, with its nonce--> told. Whatever
// comes from a box, an interpreter or a program that is not the present one is dropped with the
// objects that it would have come through.
namespace wardcase::supervisor {

namespace {

using agent::Whom;

constexpr std::chrono::seconds kStartPatience{30};

}  // namespace

// The box's run. What its programs print does not come this way.
class Session::BoxObserver : public RunObserver {
 public:
  explicit BoxObserver(Session& session) : session_(session) {}
  void on_start(std::string_view) override { session_.on_box_alive(); }
  void on_output(Stream, std::string_view) override {}
  void on_end(const RunRecord& record) override { session_.on_box_ended(record); }

 private:
  Session& session_;
};

Session::Session(EventLoop& loop, Host& host, SessionSpec spec, std::function<void()> on_closed)
    : loop_(loop),
      host_(host),
      spec_(std::move(spec)),
      on_closed_(std::move(on_closed)),
      box_observer_(std::make_unique<BoxObserver>(*this)),
      news_(loop),
      environments_(loop, host),
      idle_since_(Clock::now()) {}

Session::~Session() {
  *alive_ = false;
  for (const EventLoop::TimerId timer :
       {end_timer_, agent_timer_, input_timer_, step_timer_, start_timer_}) {
    loop_.cancel(timer);
  }
}

sys::Result<std::string> Session::exec(ExecRequest request, ExecObserver* observer) {
  if (is_closing_) return tl::unexpected(sys::plain_error("the session ends"));
  if (queue_.size() >= kMostQueued) {
    return tl::unexpected(
        sys::plain_error(std::to_string(kMostQueued) + " programs wait in this session already"));
  }
  const policies::Language* const language = spec_.languages->find(request.language);
  const auto interpreter = language == nullptr ? std::nullopt : live_interpreter(*language);
  if (!interpreter) {
    return tl::unexpected(sys::plain_error("language '" + request.language +
                                           "' has no interpreter that lives on in a session"));
  }
  if (interpreter->dialect == Dialect::lines && request.code.find('\0') != std::string::npos) {
    return tl::unexpected(sys::plain_error("the code has a NUL byte at " +
                                           std::to_string(request.code.find('\0')) + ", which " +
                                           request.language + " can't read; remove it"));
  }
  if (request.id.empty()) request.id = make_id("run_");
  if (request.name.empty()) {
    request.name = "exec-" + std::to_string(next_exec_++) + std::string(interpreter->suffix);
  }
  std::string id = request.id;
  queue_.push_back(std::make_unique<Execution>(loop_, std::move(request), observer));
  queue_.back()->record().session_id = spec_.id;
  step_later();
  return id;
}

Execution* Session::find(std::string_view exec_id) {
  if (running_ && running_->request().id == exec_id) return running_.get();
  const auto found = std::ranges::find_if(
      queue_, [&](const auto& waiting) { return waiting->request().id == exec_id; });
  return found == queue_.end() ? nullptr : found->get();
}

void Session::step_later() {
  if (step_timer_ != 0) return;
  step_timer_ = loop_.at(Clock::now(), [this] {
    step_timer_ = 0;
    step();
  });
}

// Does the next thing that the first of the queue needs.
void Session::step() {
  if (is_closing_ || is_resetting_ || running_ || finished_) return;
  if (queue_.empty() && waiters_.empty()) return;
  if (box_phase_ == BoxPhase::none) return start_box();
  if (box_phase_ != BoxPhase::alive || queue_.empty() || !has_requirements()) return;
  const std::string& language = queue_.front()->request().language;
  Interpreter* const interpreter = interpreter_of(language);
  if (interpreter == nullptr) return start_interpreter(language);
  if (!interpreter->worker->is_ready() || agent_->is_signalling()) return;
  if (knows_environments(*interpreter)) begin();
}

void Session::start_box() {
  auto spec = spec_.make_box();
  if (spec) {
    if (auto placed = place_agent(*spec); !placed) spec = tl::unexpected(placed.error());
  }
  auto link = std::make_unique<AgentLink>(
      loop_,
      AgentLink::Events{
          .on_started = [this](const agent::Started& started) { on_started(started); },
          .on_ended = [this](const agent::Ended& ended) { on_interpreter_ended(ended); },
          .on_signalled = [this] { step_later(); },
          .on_everyone_gone = [this](const agent::EveryoneGone& gone) { on_everyone_gone(gone); },
          .on_closed = [this](const std::string& why) { give_up_box(why); }});
  auto channel = spec ? link->open() : tl::unexpected(spec.error());
  if (!channel) {
    fail_queued(RunStatus::setup_failed, channel.error().message(), 0);
    return tell_waiters(tl::unexpected(channel.error()));
  }
  spec->channel = *std::move(channel);
  agent_ = std::move(link);
  box_ = std::make_unique<Run>(loop_, host_);
  box_phase_ = BoxPhase::starting;
  box_ended_because_ = "something ended it from outside";
  has_been_ready_ = false;
  news_.expect(*spec);
  environments_.forget_box();
  box_->start(*std::move(spec), *box_observer_);
}

void Session::on_box_alive() {
  news_.open(box_->box_directory(), [this] {
    if (box_phase_ != BoxPhase::starting) return;  // it is given up meanwhile
    box_phase_ = BoxPhase::alive;
    tell_waiters({});
    step();
  });
}

// All of it is gone. The run's own call is under way: it goes in the next turn.
void Session::on_box_ended(const RunRecord& record) {
  const bool was_alive = box_phase_ != BoxPhase::starting;
  box_phase_ = BoxPhase::none;
  is_resetting_ = false;
  loop_.cancel(std::exchange(agent_timer_, 0));
  loop_.cancel(std::exchange(start_timer_, 0));
  agent_->close();
  news_.close();
  if (finished_) tell_finished();
  if (running_) {
    running_->close_box();
    if (record.status == RunStatus::oom) {
      running_->note_limit(policies::LimitId::memory);
      running_->set_cause(RunStatus::oom, record.error);
    }
    running_->set_cause(is_closing_ ? RunStatus::stopped : RunStatus::signaled,
                        "the session's box was ended: " + box_ended_because_);
    running_->on_interpreter_end(std::nullopt, SIGKILL);
    finish_running();
  }
  for (const auto& [id, interpreter] : interpreters_) {
    had_interpreters_.insert(interpreter.language);
  }
  loop_.post([box = std::shared_ptr<Run>(std::move(box_)),
              agent = std::shared_ptr<AgentLink>(std::move(agent_))] {});
  interpreters_.clear();
  if (is_closing_) return end_when_nothing_is_left();
  if (was_alive && !has_been_ready_ && installing_for_.empty()) {  // nor would the next one be
    const bool is_oom = record.status == RunStatus::oom;
    return fail_front(is_oom ? RunStatus::oom : RunStatus::setup_failed,
                      is_oom ? record.error : "the box ended while its interpreter began");
  }
  if (!was_alive) {
    fail_queued(record.status, record.error, record.stop_signal);
    return tell_waiters(tl::unexpected(sys::plain_error(record.error)));
  }
  step_later();
}

void Session::start_interpreter(const std::string& language) {
  const LiveInterpreter live = *live_interpreter(*spec_.languages->find(language));
  const std::uint32_t id = next_worker_++;
  Interpreter& interpreter = interpreters_[id];
  interpreter.language = language;
  interpreter.worker = std::make_unique<Worker>(
      loop_, id,
      Worker::Events{
          .on_ready =
              [this] {
                loop_.cancel(std::exchange(start_timer_, 0));
                has_been_ready_ = true;
                step_later();
              },
          .on_added = [this, id] { on_added(id); },
          .on_begun = [this, id](const std::string& exec) { on_begun(id, exec); },
          .on_output = [this, id](Stream stream,
                                  std::string_view bytes) { on_output(id, stream, bytes); },
          .on_done = [this, id](WorkerDone done) { on_done(id, std::move(done)); },
          .on_broken = [this, id](const std::string& why) { break_interpreter(id, why); }});
  const auto started = interpreter.worker->start(*agent_, live, spec_.environment, box_->user());
  if (started) {
    loop_.cancel(start_timer_);
    start_timer_ = loop_.at(Clock::now() + kStartPatience, [this] { give_up_start(); });
    return;
  }
  interpreters_.erase(id);
  fail_front(RunStatus::setup_failed, "start the interpreter: " + started.error().message());
}

void Session::on_started(const agent::Started& started) {
  const auto found = interpreters_.find(started.id);
  if (found == interpreters_.end()) return;
  if (started.error == 0) return;
  const std::string language = found->second.language;
  drop_interpreter(started.id);
  had_interpreters_.erase(language);
  if (queue_.empty() || queue_.front()->request().language != language) return step_later();
  const LiveInterpreter live = *live_interpreter(*spec_.languages->find(language));
  const ExecFailure failure =
      describe_exec_failure(started.error, live.programs.substr(0, live.programs.find('\n')), {});
  queue_.front()->record().exit_code = failure.exit_code;
  fail_front(RunStatus::cannot_execute, failure.error);
}

// Whose process is ending already is not changed by a signal.
void Session::break_interpreter(std::uint32_t worker, const std::string& why) {
  if (agent_ != nullptr && box_phase_ == BoxPhase::alive) {
    (void)agent_->signal(worker, SIGKILL, Whom::group);
  }
  if (why.empty() || !running_ || worker != running_worker_) return;
  running_->set_cause(RunStatus::signaled, why);
  end_running(Ending::killed);
}

void Session::on_interpreter_ended(const agent::Ended& ended) {
  const auto found = interpreters_.find(ended.id);
  if (found == interpreters_.end()) return;
  found->second.worker->drain();
  if (running_ && running_worker_ == ended.id) {
    const bool has_exited = ended.code == CLD_EXITED;
    running_->on_interpreter_end(has_exited ? std::optional(ended.status) : std::nullopt,
                                 has_exited ? std::nullopt : std::optional(ended.status));
    drop_interpreter(ended.id);
    return finish_running();
  }
  const bool was_ready = found->second.worker->is_ready() && !found->second.is_told;
  drop_interpreter(ended.id);
  if (!was_ready) loop_.cancel(std::exchange(start_timer_, 0));
  // One that can't begin would not begin the next time either.
  if (!was_ready && !is_resetting_) {
    const bool is_oom = box_->usage().oom_kills.value_or(0) > 0;
    return fail_front(is_oom ? RunStatus::oom : RunStatus::setup_failed,
                      "the interpreter ended before it was ready");
  }
  step_later();
}

void Session::drop_interpreter(std::uint32_t worker) {
  auto node = interpreters_.extract(worker);
  if (node.empty()) return;
  had_interpreters_.insert(node.mapped().language);
  // Its own call may be under way.
  loop_.post([worker = std::shared_ptr<Worker>(std::move(node.mapped().worker))] {});
}

void Session::with_box(std::function<void(sys::Status)> ready) {
  if (box_phase_ == BoxPhase::alive) return ready({});
  waiters_.push_back(std::move(ready));
  step_later();
}

void Session::tell_waiters(const sys::Status& status) {
  for (const auto& ready : std::exchange(waiters_, {})) ready(status);
}

sys::Result<Session::Place> Session::place() const {
  if (box_phase_ != BoxPhase::alive || box_->box_directory() < 0) {
    return tl::unexpected(sys::plain_error("the session has no box"));
  }
  return Place{box_->box_directory(), box_->user()};
}

Session::State Session::state() {
  State state;
  if (const auto* const execution = running_ ? running_.get() : finished_.get()) {
    state.running = execution->request().id;
  } else {
    state.running = installing_for_;
  }
  state.queued = queue_.size();
  for (const auto& [id, interpreter] : interpreters_) {
    if (!interpreter.worker->is_ready()) continue;
    state.interpreters.push_back(interpreter.language + " " + interpreter.worker->version());
  }
  if (box_phase_ != BoxPhase::alive) return state;
  state.usage = box_->usage();
  state.processes = sandbox::read_tree_usage(box_->processes()).processes;
  return state;
}

std::optional<Clock::time_point> Session::idle_since() const {
  if (running_ || finished_ || !queue_.empty()) return std::nullopt;
  return idle_since_;
}

Session::Interpreter* Session::interpreter_of(const std::string& language) {
  for (auto& [id, interpreter] : interpreters_) {
    if (interpreter.language == language) return &interpreter;
  }
  return nullptr;
}

Session::Interpreter* Session::running_interpreter() {
  const auto found = interpreters_.find(running_worker_);
  return found == interpreters_.end() ? nullptr : &found->second;
}

}  // namespace wardcase::supervisor
