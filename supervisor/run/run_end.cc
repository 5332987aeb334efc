// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <signal.h>
#include <sys/statfs.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "sandbox/sys/files.h"
#include "sandbox/sys/kernel.h"
#include "supervisor/run/run_state.h"
#include "supervisor/run/setup_failure.h"

// From the first cause to the record. SIGTERM to the program's group, the grace,
// SIGKILL to the group and then to the whole tree; once init is gone nothing of
// the tree exists any more, the pipes are emptied and the control groups removed.
namespace wardcase::supervisor {
namespace {

using policies::LimitId;
using sandbox::SetupMessage;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr std::chrono::seconds kGiveUp{10};  // after SIGKILL: a process in D state
constexpr milliseconds kRemovalPause{1};
constexpr int kRemovalTries = 2000;
constexpr milliseconds kRemovalSlice{5};
constexpr int kDirectoryTries = 3;           // what fails may be a passing want of memory
constexpr unsigned long kForkNoExec = 0x40;  // PF_FORKNOEXEC, include/linux/sched.h

}  // namespace

Run::Impl::~Impl() {
  release_timers();
  forget_box();
}

void Run::Impl::forget_box() {
  for (const int fd : {box.setup.get(), box.life.get(), box.init_pidfd.get(), listener.get()}) {
    if (fd >= 0) loop.forget(fd);
  }
  if (made.cgroup != nullptr && made.cgroup->oom_fd() >= 0) loop.forget(made.cgroup->oom_fd());
}

void Run::Impl::release_timers() {
  for (EventLoop::TimerId* timer :
       {&deadline, &idle_timer, &cpu_timer, &tree_timer, &refusal_timer, &oom_timer}) {
    loop.cancel(std::exchange(*timer, 0));
  }
}

void Run::Impl::set_cause(RunStatus status, std::string error) {
  if (has_cause) return;
  has_cause = true;
  record.status = status;
  record.error = std::move(error);
}

void Run::Impl::terminate(RunStatus status, std::string error) {
  if (phase == Phase::terminating || phase == Phase::killing || phase == Phase::over) return;
  set_cause(status, std::move(error));
  if (box.init < 0) return fail_before_launch(record.status, record.error);
  if (!is_exec_confirmed) return kill_tree();
  phase = Phase::terminating;
  if (is_frozen) set_frozen(false);
  signal_group(SIGTERM);
  signal_group(SIGCONT);  // a stopped program can't handle its SIGTERM
  loop.cancel(deadline);
  deadline = loop.at(Clock::now() + made.limits.grace(), [this] {
    signal_group(SIGKILL);
    kill_tree();
  });
}

// That nothing ran can only be said of a box that was never ready: finish() looks.
void Run::Impl::lose_track(std::string_view what, int error) {
  has_lost_track = has_lost_track || !has_cause;
  set_cause(RunStatus::setup_failed, sys::Error{error, std::string(what)}.message());
  kill_tree();
}

// Whether it said so in what was not read yet.
bool Run::Impl::said_ready() {
  ReceivedMessage received;
  while (!is_ready && box.setup.is_open() &&
         receive_message(box.setup.get(), received) == ChannelState::message) {
    is_ready = received.message.kind == SetupMessage::Kind::ready;
  }
  return is_ready;
}

// By pidfd from kernel 6.9; before that by number, which is safe as long as init
// leaves the program unreaped.
void Run::Impl::signal_group(int signal) const {
  if (!program_pidfd.is_open()) return;
  if (sys::pidfd_send_signal(program_pidfd.get(), signal, sys::kPidfdSignalProcessGroup) == 0) {
    return;
  }
  if (program > 1) (void)::kill(-program, signal);
}

void Run::Impl::kill_tree() {
  if (phase == Phase::killing || phase == Phase::over) return;
  phase = Phase::killing;
  if (is_exec_confirmed && !has_ended) (void)cpu_used();  // what no control group will remember
  if (made.cgroup != nullptr && made.cgroup->can_kill()) {
    (void)made.cgroup->kill();  // init's death below ends the same processes
  }
  box.kill_init();
  loop.cancel(deadline);
  deadline = loop.at(Clock::now() + kGiveUp, [this] {
    record.unkillable = true;
    box.abandon_init();  // it may never end
    finish();
  });
}

void Run::Impl::drain_life() {
  drain_setup();  // what the program said before it ended comes first
  while (box.life.is_open()) {
    ReceivedMessage received;
    switch (receive_message(box.life.get(), received)) {
      case ChannelState::nothing_yet:
        return;
      case ChannelState::closed:
        loop.forget(box.life.get());  // kept open: its closing would be an order to init
        return;
      case ChannelState::broken:
        loop.forget(box.life.get());
        if (!has_ended) lose_track("hear how the program ends", received.error);
        return;
      case ChannelState::message:
        break;
    }
    if (received.message.kind == SetupMessage::Kind::program_ended) {
      on_program_ended(received.message);
    } else if (received.message.kind == SetupMessage::Kind::failed) {
      on_setup_failed(received.message);
    }
  }
}

// The flags of a zombie still tell whether it ever executed anything: field 9
// of /proc/PID/stat, counted after the last ')' (proc(5)).
bool Run::Impl::died_before_exec() const {
  const auto text =
      sys::read_file(AT_FDCWD, ("/proc/" + std::to_string(program) + "/stat").c_str());
  if (!text) return false;
  const std::size_t name_end = text->rfind(')');
  unsigned long flags = 0;
  if (name_end == std::string::npos ||
      std::sscanf(text->c_str() + name_end + 1, " %*c %*d %*d %*d %*d %*d %lu", &flags) != 1) {
    return false;
  }
  return (flags & kForkNoExec) != 0;
}

void Run::Impl::on_program_ended(const SetupMessage& message) {
  has_ended = true;
  const Clock::time_point ended_at = Clock::now();
  check_memory_event();  // the event comes before the death that it causes
  if (!is_exec_confirmed || died_before_exec()) {
    is_exec_confirmed = false;
    // A limit's cause can't be: the limits began with an exec that was none.
    has_cause = has_cause && record.status != RunStatus::timeout;
    set_cause(RunStatus::setup_failed,
              "set up the box: the program's process died before its exec");
    return kill_tree();
  }
  record.duration = std::chrono::duration_cast<microseconds>(ended_at - exec_at);
  const bool has_exited = message.end_code == CLD_EXITED;
  if (has_exited) {
    record.exit_code = message.end_status;
    set_cause(RunStatus::exited, "");
  } else {
    record.signal = message.end_status;
    if (message.end_status == SIGXFSZ) {
      note_limit(LimitId::file_size);
      set_cause(RunStatus::disk_limit,
                "a file passed its limit of " + policies::format_size(limit(LimitId::file_size)));
    }
    if (message.end_status == SIGKILL && has_fresh_oom) set_cause(RunStatus::oom, describe_oom());
    set_cause(RunStatus::signaled, "ended by " + signal_name(message.end_status));
  }
  record.leftover_processes = look_at_tree().processes;
  kill_tree();
}

void Run::Impl::on_init_gone() {
  drain_life();
  if (phase == Phase::over) return;
  // Whoever killed it has left the others to nobody.
  if (box.ends_by_itself && made.cgroup != nullptr) (void)made.cgroup->kill();
  check_memory_event();
  // Without init's word the end was SIGKILL's: ours, the kernel's or somebody's.
  if (is_exec_confirmed && !has_ended) record.signal = SIGKILL;
  if (has_fresh_oom && is_exec_confirmed) set_cause(RunStatus::oom, describe_oom());
  if (!has_cause) {
    if (is_exec_confirmed) {
      set_cause(RunStatus::signaled, "the box was killed from outside");
    } else if (box.release_error) {
      set_cause(RunStatus::setup_failed, describe_launch_failure(*box.release_error));
    } else {
      set_cause(RunStatus::setup_failed, "set up the box: its first process died");
    }
  }
  if (quota == nullptr || !is_exec_confirmed) return finish();
  release_timers();
  loop.forget(box.init_pidfd.get());  // it stays readable
  measure_workspaces_last();
}

void Run::Impl::finish() {
  release_timers();
  quota.reset();
  phase = Phase::killing;
  forget_box();
  box.reap();
  if (has_lost_track && said_ready()) record.status = RunStatus::lost;
  for (const auto& pump : pumps) {
    if (pump) pump->drain();
  }
  stdin_pump.reset();
  terminal_peer.reset();
  terminal.reset();
  collect();
  if (!is_exec_confirmed || spec.rehearsal) return remove_cgroup();
  observer->on_tree_gone(work_directory(), record, [this] { remove_cgroup(); });
}

// What is only known at the end.
void Run::Impl::collect() {
  if (is_exec_confirmed && record.duration.count() == 0) {
    record.duration = std::chrono::duration_cast<microseconds>(Clock::now() - exec_at);
  }
  if (!is_exec_confirmed)
    record.setup = std::chrono::duration_cast<microseconds>(Clock::now() - started_at);
  sandbox::CgroupUsage usage;
  if (made.cgroup != nullptr) usage = made.cgroup->read_usage();
  record.cpu = usage.cpu ? usage.cpu : std::optional(last_tree_cpu);
  record.memory_peak_bytes = usage.memory_peak_bytes;
  if (!record.memory_peak_bytes && peak_tree_bytes != 0) record.memory_peak_bytes = peak_tree_bytes;
  record.processes_peak = usage.processes_peak;
  if (!record.processes_peak && peak_tree_threads != 0) record.processes_peak = peak_tree_threads;
  record.oom_kills = usage.oom_kills;
  if (usage.pids_limit_hit) note_limit(LimitId::pids);
  struct statfs files = {};
  if (box_directory.is_open() && ::fstatfs(box_directory.get(), &files) == 0 &&
      (files.f_bfree == 0 || files.f_ffree == 0)) {
    note_limit(LimitId::disk);
  }
  if (refused) record.denied_syscalls = refused->calls();
  if (record.hint.empty()) record.hint = hint_of_refusal(record);
  transcript.tell(record);
}

// The kernel takes the last steps of a process' end after we hear of it: EBUSY
// for a moment. What can't be removed after that is the next start's to sweep.
void Run::Impl::remove_cgroup() {
  if (made.cgroup == nullptr) return remove_directory();
  const auto removed = made.cgroup->remove();
  if (removed) return remove_directory();
  if (removed.error().code != EBUSY || ++removal_tries > kRemovalTries) {
    host.leave_to_sweep();
    return remove_directory();
  }
  deadline = loop.at(Clock::now() + kRemovalPause, [this] { remove_cgroup(); });
}

// A slice of it between other events: it may hold as many files as the disk limit lets.
void Run::Impl::remove_directory() {
  if (!made.directory) return hand_over();
  const auto gone = made.directory->remove_for(kRemovalSlice);
  const bool has_failed = !gone && ++directory_failures >= kDirectoryTries;
  if (has_failed) host.leave_to_sweep();
  if (has_failed || (gone && *gone)) return hand_over();
  loop.post([this] { remove_directory(); });
}

void Run::Impl::hand_over() {
  phase = Phase::over;
  made.cgroup.reset();
  made.directory.reset();
  made.lease.reset();
  observer->on_end(record);
}

void Run::Impl::fail_before_launch(RunStatus status, std::string error) {
  set_cause(status, std::move(error));
  release_timers();
  quota.reset();
  phase = Phase::killing;
  record.setup = std::chrono::duration_cast<microseconds>(Clock::now() - started_at);
  forget_box();
  box.kill_init();
  box.reap();
  if (said_ready()) record.status = RunStatus::lost;
  box = sandbox::Box();
  host.sweep();  // what stands in our way may be a dead one's
  loop.post([this] { remove_cgroup(); });
}

}  // namespace wardcase::supervisor
