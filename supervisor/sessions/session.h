// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "policies/language_set.h"
#include "policies/policy.h"
#include "supervisor/run/event_loop.h"
#include "supervisor/run/host.h"
#include "supervisor/run/run.h"
#include "supervisor/sessions/agent_link.h"
#include "supervisor/sessions/box_news.h"
#include "supervisor/sessions/execution.h"
#include "supervisor/sessions/session_environments.h"
#include "supervisor/sessions/session_prelude.h"
#include "supervisor/sessions/worker.h"

namespace wardcase::supervisor {

// What a session is made of. Checked by whoever makes one; limits are resolved.
struct SessionSpec {
  std::string id;
  // A new box each time: limits, mounts, network, policy. Argv, files of the agent's and the
  // channel are the session's to set.
  std::function<sys::Result<RunSpec>()> make_box;
  std::vector<std::string> environment;  // of the interpreters, "NAME=VALUE"
  std::string default_language;          // a language's name
  std::shared_ptr<const policies::LanguageSet> languages;
  std::shared_ptr<const policies::Policy> policy;  // what programs are held to
  std::map<std::string, SessionPrelude> preludes;  // by the language's name
  std::string made_with;  // the options that say all this, for who compares
};

// A box that outlives its programs: /box stays, and so does what its interpreters know. Programs
// are executed one at a time, in the order in which they came; the box is made with the first.
class Session {
 public:
  static constexpr std::size_t kMostQueued = 64;

  // `on_closed` is called once, after close(): nothing of the session exists any more.
  Session(EventLoop& loop, Host& host, SessionSpec spec, std::function<void()> on_closed);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();  // what lives in the box is killed

  // Queues it and gives its id. The observer hears of it in later turns of the loop, and outlives
  // it or is forgotten. Errors: the queue is full; the session ends; its language has no live
  // interpreter here.
  [[nodiscard]] sys::Result<std::string> exec(ExecRequest request, ExecObserver* observer);
  // What was asked for; nullptr: unknown, or over.
  [[nodiscard]] Execution* find(std::string_view exec_id);

  // Ends the program that runs, or for which something is installed, if it is this one (or any,
  // where it is empty) as `stopped`: SIGINT, after which an interpreter goes on with its variables;
  // else SIGTERM, and after the grace SIGKILL for all that is in the box. False: nothing of that
  // kind runs.
  bool interrupt(std::string_view exec_id = {});
  // As interrupt(), also for one that waits; a second time at once by SIGKILL.
  void stop(std::string_view exec_id, int signal);
  // Ends every process of the box and all programs that wait, as `stopped`. /box stays.
  void reset();
  // For the program that runs; `taken` as StdinGate::write. Fails where none does, or its stdin
  // is not open.
  [[nodiscard]] sys::Status input(std::string_view bytes, std::function<void()> taken = nullptr);
  [[nodiscard]] sys::Status end_input();
  // No more output of the program that runs, until it is asked for again.
  void pause_output(bool paused);
  // Ends it all.
  void close();

  struct State {
    std::string running;  // the id of the program that runs or is not told yet, ""
    std::size_t queued = 0;
    std::vector<std::string> interpreters;  // that live: "python 3.11.2"
    BoxUsage usage;
    std::uint64_t processes = 0;
  };
  [[nodiscard]] State state();
  [[nodiscard]] const SessionSpec& spec() const { return spec_; }
  // Where nothing runs or waits: since when.
  [[nodiscard]] std::optional<Clock::time_point> idle_since() const;
  // The box's /box, and who owns what is in it. Fails where no box is (yet).
  struct Place {
    int directory;
    BoxUser owner;
  };
  [[nodiscard]] sys::Result<Place> place() const;
  // A file was put into /box from outside: no program's news.
  void know_file(const std::string& path) { news_.know(path); }
  // Makes the box if there is none, and calls back once it is there, or can't be.
  void with_box(std::function<void(sys::Status)> ready);

 private:
  class BoxObserver;
  enum class BoxPhase { none, starting, alive, ending };
  // How far we are with ending the program that runs.
  enum class Ending { no, interrupted, terminated, killed };

  // What the interpreter of the program that runs has in hand.
  enum class Stage { check, prelude, program };

  struct Interpreter {
    std::unique_ptr<Worker> worker;
    std::string language;
    bool is_prepared = false;  // no prelude is to be run in it any more
    std::size_t told = 0;      // so many of the environments
    bool is_told = false;      // of one more, and has not answered
  };

  void step();
  void step_later();
  void start_box();
  void on_box_alive();
  void on_box_ended(const RunRecord& record);
  void start_interpreter(const std::string& language);
  void on_started(const agent::Started& started);
  void on_interpreter_ended(const agent::Ended& ended);
  void on_everyone_gone(const agent::EveryoneGone& gone);
  // Whether all that the first of the queue requires is there; else sees to it.
  [[nodiscard]] bool has_requirements();
  void on_installed(std::optional<PartFailure> failure, std::optional<StageRecord> record);
  // Whether the interpreter knows of all that was installed; else tells it.
  [[nodiscard]] bool knows_environments(Interpreter& interpreter);
  void on_added(std::uint32_t worker);
  void stop_installing();
  void end_when_nothing_is_left();
  void begin();
  [[nodiscard]] sys::Status place_files(const ExecRequest& request);
  void hand_over(Stage stage);
  void after_check(WorkerDone done);
  void after_prelude(WorkerDone done);
  void on_output(std::uint32_t worker, Stream stream, std::string_view bytes);
  void on_begun(std::uint32_t worker, const std::string& exec_id);
  void on_done(std::uint32_t worker, WorkerDone done);
  void break_interpreter(std::uint32_t worker, const std::string& why);
  void watch_input();
  void end_running(Ending how);
  void kill_everyone();
  void give_up_box(const std::string& why);
  void give_up_start();
  void fail_front(RunStatus status, const std::string& error);
  void finish_running();
  void tell_finished();
  void fail_queued(RunStatus status, const std::string& error, int stop_signal);
  [[nodiscard]] Interpreter* interpreter_of(const std::string& language);
  [[nodiscard]] Interpreter* running_interpreter();
  void drop_interpreter(std::uint32_t worker);
  void tell_waiters(const sys::Status& status);

  EventLoop& loop_;
  Host& host_;
  SessionSpec spec_;
  std::function<void()> on_closed_;
  std::unique_ptr<BoxObserver> box_observer_;
  std::unique_ptr<Run> box_;
  std::unique_ptr<AgentLink> agent_;
  BoxPhase box_phase_ = BoxPhase::none;
  std::string box_ended_because_;
  bool has_been_ready_ = false;  // an interpreter, in this box
  bool is_closing_ = false;
  bool is_closed_ = false;
  bool is_resetting_ = false;  // SIGKILL for everyone is under way
  std::uint32_t next_worker_ = 1;
  std::uint64_t next_exec_ = 1;
  std::map<std::uint32_t, Interpreter> interpreters_;
  std::set<std::string> had_interpreters_;  // languages whose interpreter has ended
  std::deque<std::unique_ptr<Execution>> queue_;
  std::unique_ptr<Execution> running_;
  std::unique_ptr<Execution> finished_;  // whose artifacts are looked for
  BoxNews news_;
  SessionEnvironments environments_;
  std::string installing_for_;  // the id of the program; "": nothing is installed
  Clock::time_point install_began_;
  std::uint32_t running_worker_ = 0;
  Stage stage_ = Stage::program;
  Ending ending_ = Ending::no;
  bool has_begun_ = false;
  bool is_waiting_told_ = false;
  Clock::time_point idle_since_;
  EventLoop::TimerId end_timer_ = 0;    // of ending the program that runs
  EventLoop::TimerId agent_timer_ = 0;  // of the agent's answer
  EventLoop::TimerId input_timer_ = 0;
  EventLoop::TimerId step_timer_ = 0;
  EventLoop::TimerId start_timer_ = 0;  // of an interpreter that is to be ready
  std::vector<std::function<void(sys::Status)>> waiters_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for what was posted
};

}  // namespace wardcase::supervisor
