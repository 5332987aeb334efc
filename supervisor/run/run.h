// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/ioctl.h>

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "sandbox/process_tree.h"
#include "sandbox/setup_report.h"
#include "supervisor/run/event_loop.h"
#include "supervisor/run/host.h"
#include "supervisor/run/run_record.h"
#include "supervisor/run/run_spec.h"

namespace wardcase::supervisor {

enum class Stream : std::uint8_t { out, err };

// One launch step and when it was done, since the start of the run.
struct TimedStep {
  std::string_view who;  // "supervisor", "child", "program", "init"
  std::string_view name;
  std::chrono::nanoseconds at;
};

// What a box has used so far; without a value: nobody counts it.
struct BoxUsage {
  std::chrono::microseconds cpu{0};
  std::optional<std::uint64_t> memory_peak_bytes;
  std::optional<std::uint64_t> processes_peak;
  std::optional<std::uint64_t> oom_kills;
};

struct BoxUser {
  uid_t uid;
  gid_t gid;
};

// Who asked for the run and hears of it. Called on the loop's thread; a call may
// use any method of the Run except its destructor.
class RunObserver {
 public:
  RunObserver() = default;
  RunObserver(const RunObserver&) = delete;
  RunObserver& operator=(const RunObserver&) = delete;
  virtual ~RunObserver() = default;

  // The program's exec is confirmed.
  virtual void on_start(std::string_view run_id) = 0;
  // Raw bytes in order, never empty. `bytes` is gone after the call.
  virtual void on_output(Stream stream, std::string_view bytes) = 0;
  // The program ran, and nothing of its tree lives any more (unless record.unkillable): what it
  // left in /box can be read by this directory's descriptor (borrowed until `resume`; -1: there is
  // none). `record` is all but finished and may be added to. Call `resume` once, now or later.
  // By value, as overriders keep it. NOLINTNEXTLINE(performance-unnecessary-value-param)
  virtual void on_tree_gone(int box_directory, RunRecord& record, std::function<void()> resume) {
    (void)box_directory;
    (void)record;
    resume();
  }
  // Exactly once, last of all, whatever happened. Nothing of the run exists any more
  // (unless record.unkillable).
  virtual void on_end(const RunRecord& record) = 0;
};

// One execution, from the asking to the record, on a loop that the caller owns.
// Nothing here blocks.
class Run {
 public:
  Run(EventLoop& loop, Host& host);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run();  // an unfinished run is killed and reaped, without a record

  // Begins. Every failure, bad input included, is told by on_end, in a later turn of the loop.
  void start(RunSpec spec, RunObserver& observer);

  // Ends the run from outside as `stopped`: SIGTERM, grace, SIGKILL.
  // `signal` is what the supervisor itself got (15 where there was none). A
  // second call skips the rest of the grace.
  void stop(int signal);

  // No more on_output for this stream until resumed; the program then blocks
  // when its pipe is full. Timers and the kill go on; at the end what is in the pipe is
  // delivered all the same.
  void pause_output(Stream stream);
  void resume_output(Stream stream);

  // Stops and continues the whole box (SIGTSTP, SIGCONT of the command line); wall time goes on.
  void set_frozen(bool frozen);

  // The program's terminal has another size now; it is told by SIGWINCH. Only for a
  // run with RunSpec::terminal.
  void resize_terminal(const winsize& size);

  // What the launch spent its time on; complete once on_start came.
  [[nodiscard]] std::vector<TimedStep> timing() const;

  // Of a box that lives, from on_start to on_end:
  [[nodiscard]] BoxUsage usage();
  // Calls that the policy refused so far; as RunRecord::denied_syscalls.
  [[nodiscard]] std::optional<std::vector<DeniedCall>> denied_calls() const;
  // The directory of /box; -1: there is none. Borrowed.
  [[nodiscard]] int box_directory() const;
  // Whether the program, or one that it started, waits for input on its stdin that has not come
  // yet; nullopt: it can't be known (sandbox/input_wait.h).
  [[nodiscard]] std::optional<bool> is_waiting_for_input() const;
  // Bytes that were passed on to its stdin so far.
  [[nodiscard]] std::uint64_t input_bytes() const;
  // Its first process, by the host's number; all others are below it.
  [[nodiscard]] pid_t init() const;
  // Shows a directory of the host at a place of the box, read-only (sandbox/live_mount.h).
  [[nodiscard]] sys::Status show_directory(const std::string& directory, const std::string& place);
  // Its processes; what it refers to is the Run's.
  [[nodiscard]] sandbox::ProcessTree processes() const;
  // Whose files are the box's own, as the host counts.
  [[nodiscard]] BoxUser user() const;
  // The limits and their enforcement as they are in force.
  [[nodiscard]] const RunRecord& record_so_far() const;
  // What was printed so far, into the record's fields of it.
  void tell_output(RunRecord& record) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A fresh id: prefix + 128 random bits in lower-case base32.
[[nodiscard]] std::string make_id(std::string_view prefix);

}  // namespace wardcase::supervisor
