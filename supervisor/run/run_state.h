// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policies/units.h"
#include "sandbox/launch.h"
#include "sandbox/process_tree.h"
#include "supervisor/run/encoding_fallback.h"
#include "supervisor/run/event_loop.h"
#include "supervisor/run/host_stream.h"
#include "supervisor/run/output_pump.h"
#include "supervisor/run/preparation.h"
#include "supervisor/run/refused_calls.h"
#include "supervisor/run/run.h"
#include "supervisor/run/setup_channel.h"
#include "supervisor/run/transcript.h"
#include "supervisor/run/workspace_quota.h"

// The inside of a Run, in parts: launching (run_launch.cc), watching limits (run_watch.cc;
// run_workspaces.cc for host directories), answering refused calls (run_refusals.cc),
// ending (run_end.cc).
//
//   starting --exec confirmed--> running --cause--> terminating --grace--> killing --init gone-->
//   over
//       \______________________________ a failed step _____________________/
//
// A cause is what ends a run; the first one stands. Everything after it (a TERM
// handler's exit 0, an out-of-memory kill in the grace) changes the record's
// details, never its status.
namespace wardcase::supervisor {

enum class Phase : std::uint8_t { starting, running, terminating, killing, over };

struct Run::Impl {
  Impl(EventLoop& its_loop, Host& its_host) : loop(its_loop), host(its_host) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl();

  // run.cc: the public calls
  void start(RunSpec its_spec, RunObserver& its_observer);
  void stop(int signal);
  void set_frozen(bool frozen);
  void resize_terminal(const winsize& size);

  // run_launch.cc
  void begin();
  void launch_box();
  void watch_box();
  void open_pump(Stream stream, sys::UniqueFd source);
  void on_output_broken(Stream stream, int error);
  void open_stdin(sys::UniqueFd sink);
  void open_terminal(sys::UniqueFd master);
  void drain_setup();
  void on_setup_message(ReceivedMessage& received);
  void on_setup_failed(const sandbox::SetupMessage& message);
  void confirm_exec();
  void take_timing(const sandbox::SetupMessage& message, std::string_view who);
  [[nodiscard]] std::vector<TimedStep> timing() const;

  // run_refusals.cc
  void watch_refusals(ReceivedMessage& ready);
  void on_refused_call(std::uint32_t events);
  void slow_down_refusals();
  void stop_listening(int error);

  // run_watch.cc
  void arm_limits();
  void on_output(Stream stream, std::string_view bytes);
  void check_idle();
  void check_cpu_time();
  void check_tree();
  void check_memory_event();
  void on_box_out_of_memory();
  [[nodiscard]] std::string describe_oom() const;
  sandbox::TreeUsage look_at_tree();
  [[nodiscard]] sandbox::ProcessTree tree() const;
  [[nodiscard]] std::chrono::microseconds cpu_used();
  void note_limit(policies::LimitId id);
  [[nodiscard]] std::uint64_t limit(policies::LimitId id) const;

  // run_workspaces.cc: what the program may write to on the host
  void measure_workspaces(const std::function<void()>& next);
  void open_workspace();
  [[nodiscard]] int work_directory();
  void watch_workspaces();
  void measure_workspaces_last();
  [[nodiscard]] std::string describe_disk_limit() const;

  // run_end.cc
  // Sets the cause if there is none yet.
  void set_cause(RunStatus status, std::string error);
  // Ends the run for a cause: SIGTERM, then after the grace SIGKILL.
  void terminate(RunStatus status, std::string error);
  // We failed, and can't say any more how it would have ended.
  void lose_track(std::string_view what, int error);
  void kill_tree();
  void signal_group(int signal) const;
  void drain_life();
  void on_program_ended(const sandbox::SetupMessage& message);
  [[nodiscard]] bool died_before_exec() const;
  void on_init_gone();
  void finish();
  void forget_box();  // takes its descriptors out of the loop
  void collect();
  void remove_cgroup();
  void remove_directory();
  void hand_over();
  void fail_before_launch(RunStatus status, std::string error);
  [[nodiscard]] bool said_ready();
  void release_timers();

  EventLoop& loop;
  Host& host;
  RunSpec spec;
  RunObserver* observer = nullptr;
  Preparation made;
  sandbox::Box box;
  sys::UniqueFd box_directory;  // on the box's own file system, whatever is mounted over it
  sys::UniqueFd work_place;     // what the program has as /box, where that is another
  sys::UniqueFd box_proc;       // the box's /proc; the host's where it has none
  sys::UniqueFd program_pidfd;
  sys::UniqueFd listener;               // of calls that the filter refuses
  std::optional<RefusedCalls> refused;  // without a value: nobody notifies us
  Clock::time_point refusals_since;
  int refusals_answered = 0;
  pid_t program = -1;  // on the host; valid while init leaves it unreaped

  Phase phase = Phase::starting;
  bool is_ready = false;  // the program's filter is loaded: only exec is left
  bool is_exec_confirmed = false;
  bool has_ended = false;  // init told how the program ended
  bool has_cause = false;
  bool has_lost_track = false;  // the cause is our own failure
  bool is_frozen = false;
  bool has_fresh_oom = false;  // where the run goes on: the kernel ended a process just now
  std::unique_ptr<WorkspaceQuota> quota;  // nullptr: nothing of the host can be written to
  int removal_tries = 0;
  int directory_failures = 0;

  RunRecord record;
  std::optional<EncodingFallback> fallback;
  Transcript transcript;
  std::array<std::unique_ptr<OutputPump>, 2> pumps;  // by Stream
  std::unique_ptr<StdinPump> stdin_pump;
  sys::UniqueFd terminal;       // the master of the program's, if it has one
  sys::UniqueFd terminal_peer;  // its other end: the program may close all of its own and come back

  Clock::time_point started_at;
  Clock::time_point exec_at;
  Clock::time_point last_output_at;
  std::uint64_t peak_tree_bytes = 0;
  std::uint64_t peak_tree_threads = 0;
  std::chrono::microseconds last_tree_cpu{0};
  std::vector<sandbox::LaunchMark> marks;
  struct Lane {
    std::string_view who;
    std::array<std::uint64_t, sandbox::kSetupStepCount> done_at{};
  };
  std::vector<Lane> lanes;

  // The timers that may be armed at once; release_timers() cancels all.
  EventLoop::TimerId deadline = 0;  // setup deadline, then wall time, then grace, then giving up
  EventLoop::TimerId idle_timer = 0;
  EventLoop::TimerId cpu_timer = 0;
  EventLoop::TimerId tree_timer = 0;
  EventLoop::TimerId refusal_timer = 0;
  EventLoop::TimerId oom_timer = 0;
};

}  // namespace wardcase::supervisor
