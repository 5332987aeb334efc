// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/sys/error.h"
#include "supervisor/cli/run_options.h"
#include "supervisor/cli/saved_output.h"
#include "supervisor/languages/job_run.h"
#include "supervisor/run/event_loop.h"
#include "supervisor/run/event_stream.h"
#include "supervisor/run/host_stream.h"
#include "supervisor/run/run.h"

namespace wardcase::supervisor {

// Brings what a run says to those who read us: the program's bytes, event lines
// or the record on stdout, event lines on --status-fd. A reader who is slow makes
// the program wait; one who is gone ends the run. After the end it waits until all
// is read, then stops the loop.
class RunOutput : public RunObserver {
 public:
  RunOutput(EventLoop& loop, JobRun& run, const RunOptions& options);

  // Call before the run starts.
  [[nodiscard]] sys::Status open();

  void on_start(std::string_view run_id) override;
  void on_output(Stream stream, std::string_view bytes) override;
  void on_end(const RunRecord& record) override;

  // The record, once the run has ended.
  [[nodiscard]] const std::optional<RunRecord>& record() const { return record_; }
  // The readers were not waited for any longer: nothing more should be written.
  [[nodiscard]] bool has_given_up() const { return has_given_up_; }
  // What could not be saved by --save-output, --out or --meta.
  [[nodiscard]] const sys::Status& saved() const { return saved_; }
  // errno of the first write that failed; 0: none did.
  [[nodiscard]] int write_error() const { return write_error_; }

 private:
  // One descriptor of the caller.
  struct Outlet {
    std::unique_ptr<HostWriter> writer;
    std::array<bool, 2> carries = {};  // by Stream
    bool blocked = false;
    bool finishing = false;
    bool flushed = false;
  };

  [[nodiscard]] sys::Result<Outlet*> add_outlet(int fd, std::array<bool, 2> carries);
  [[nodiscard]] sys::Status add_event_stream(int fd);
  void on_blocked(Outlet& outlet);
  void on_drained(Outlet& outlet);
  void on_broken(Outlet& outlet, int error);
  void control_flow();
  void watch_input();
  void stop_when_flushed(Outlet& outlet);

  EventLoop& loop_;
  JobRun& run_;
  const RunOptions& options_;
  std::vector<std::unique_ptr<Outlet>> outlets_;
  std::vector<EventStream> events_;
  std::array<Outlet*, 2> plain_ = {};  // pass-through, by Stream
  Outlet* json_ = nullptr;
  std::array<bool, 2> paused_ = {};
  std::optional<SavedOutput> saved_output_;
  sys::Status saved_;
  std::string error_tail_;  // for hints
  std::string run_id_;
  EventLoop::TimerId input_timer_ = 0;
  std::optional<std::uint64_t> waiting_since_;  // so many bytes of input, as was told
  std::optional<RunRecord> record_;
  bool has_given_up_ = false;
  int write_error_ = 0;
};

}  // namespace wardcase::supervisor
