// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <signal.h>

#include <utility>

#include "sandbox/input_wait.h"
#include "supervisor/sessions/session.h"

// A program of a session while it runs: from its beginning to what its interpreter says of its end.
namespace wardcase::supervisor {

namespace {

using agent::Whom;
using std::chrono::milliseconds;

constexpr milliseconds kInputCheck{50};

}  // namespace

// Of a program that begins: nobody sees them before.
sys::Status Session::place_files(const ExecRequest& request) {
  if (request.files == nullptr) return {};
  const auto box = place();
  if (!box) return tl::unexpected(box.error());
  auto placed = request.files->take_places(box->directory);
  if (!placed) return tl::unexpected(std::move(placed).error().while_doing("put files into /box"));
  for (const DeliveredFile& file : request.files->files()) news_.know(file.name);
  return {};
}

void Session::begin() {
  if (const auto placed = place_files(queue_.front()->request()); !placed) {
    return fail_front(RunStatus::invalid_request, placed.error().message());
  }
  running_ = std::move(queue_.front());
  queue_.pop_front();
  Interpreter& interpreter = *interpreter_of(running_->request().language);
  running_worker_ = interpreter.worker->id();
  ending_ = Ending::no;
  has_begun_ = false;
  is_waiting_told_ = false;
  const ExecRequest& request = running_->request();
  running_->record().session_restarted = had_interpreters_.erase(request.language) != 0;
  running_->begin(*box_, [this] { end_running(Ending::interrupted); });
  if (request.open_input) {
    if (const auto opened = interpreter.worker->input().let_in(); !opened) {
      running_->set_cause(RunStatus::setup_failed, opened.error().message());
      return finish_running();
    }
    watch_input();
  }
  hand_over(request.validation == Validation::none ? Stage::prelude : Stage::check);
}

// Whoever has been stopped meanwhile gets no further.
void Session::hand_over(Stage stage) {
  Interpreter& interpreter = *running_interpreter();
  const auto prelude = spec_.preludes.find(interpreter.language);
  if (prelude == spec_.preludes.end()) interpreter.is_prepared = true;
  stage_ = stage == Stage::prelude && interpreter.is_prepared ? Stage::program : stage;
  has_begun_ = false;
  const ExecRequest& request = running_->request();
  const std::string& nonce = running_->renew_nonce();
  if (stage_ == Stage::prelude) {
    running_->begin_prelude(prelude->second.name);
    return interpreter.worker->execute(Handling::execute, request.id, prelude->second.name,
                                       prelude->second.code, nonce);
  }
  interpreter.worker->execute(stage_ == Stage::check ? Handling::check : Handling::execute,
                              request.id, request.name, request.code, nonce);
}

// What can't be right needs no prelude.
void Session::after_check(WorkerDone done) {
  const bool is_wrong = !done.error.type.empty();
  const bool is_over = running_->request().validation == Validation::alone;
  if (!is_wrong && !is_over && !running_->has_cause()) return hand_over(Stage::prelude);
  if (is_wrong) {
    running_->refuse_syntax(done.error);
  } else {
    running_->on_done(std::move(done));
  }
  running_interpreter()->worker->input().shut();
  finish_running();
}

// An interpreter that has not got what it was to have is of no use.
void Session::after_prelude(WorkerDone done) {
  Interpreter& interpreter = *running_interpreter();
  const bool ends = done.ends;
  interpreter.is_prepared = !ends && done.exit_code == 0;
  if (interpreter.is_prepared && !running_->has_cause()) {
    running_->end_prelude();
    return hand_over(Stage::program);
  }
  running_->on_done(std::move(done));
  if (ends) return;  // its end is told by the agent
  if (!interpreter.is_prepared) {
    (void)agent_->signal(running_worker_, SIGKILL, Whom::group);
    return;
  }
  interpreter.worker->input().shut();
  finish_running();
}

void Session::on_output(std::uint32_t worker, Stream stream, std::string_view bytes) {
  if (running_ && worker == running_worker_) running_->on_output(stream, bytes);
}

// An interpreter that has not begun ignores an interrupt.
void Session::on_begun(std::uint32_t worker, const std::string& exec_id) {
  if (!running_ || worker != running_worker_ || exec_id != running_->request().id) return;
  has_begun_ = true;
  if (ending_ == Ending::interrupted) (void)agent_->signal(worker, SIGINT, Whom::group);
}

// It is the end only with what was to be read after the program's: one who speaks before has not
// ended.
void Session::on_done(std::uint32_t worker, WorkerDone done) {
  if (!running_ || worker != running_worker_ || done.id != running_->request().id) return;
  if (done.nonce != running_->nonce()) {
    return break_interpreter(worker, "the program spoke in its interpreter's place");
  }
  Interpreter& interpreter = *running_interpreter();
  interpreter.worker->drain();
  if (stage_ == Stage::check) return after_check(std::move(done));
  if (stage_ == Stage::prelude) return after_prelude(std::move(done));
  const bool ends = done.ends;
  running_->on_done(std::move(done));
  if (ends) return;  // its end is told by the agent
  interpreter.worker->input().shut();
  finish_running();
}

sys::Status Session::input(std::string_view bytes, std::function<void()> taken) {
  if (!running_) return tl::unexpected(sys::plain_error("nothing runs in the session"));
  is_waiting_told_ = false;
  return running_interpreter()->worker->input().write(bytes, std::move(taken));
}

sys::Status Session::end_input() {
  if (!running_) return tl::unexpected(sys::plain_error("nothing runs in the session"));
  running_interpreter()->worker->input().finish();
  return {};
}

// Told once for each time that it waits; where nobody may look, never.
void Session::watch_input() {
  const StdinGate& gate = running_interpreter()->worker->input();
  if (!is_waiting_told_ && gate.is_let_in() && gate.is_empty()) {
    is_waiting_told_ = sandbox::is_input_awaited(box_->init(), gate.fd()).value_or(false);
    if (is_waiting_told_) running_->tell_waiting();
  }
  input_timer_ = loop_.at(Clock::now() + kInputCheck, [this] { watch_input(); });
}

void Session::pause_output(bool paused) {
  if (running_) running_interpreter()->worker->pause_output(paused);
}

}  // namespace wardcase::supervisor
