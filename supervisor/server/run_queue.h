// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "supervisor/languages/job.h"
#include "supervisor/run/event_loop.h"
#include "supervisor/run/run_record.h"

namespace wardcase::supervisor {

// A run that goes on; the destructor kills what is left of it.
class StartedRun {
 public:
  StartedRun() = default;
  StartedRun(const StartedRun&) = delete;
  StartedRun& operator=(const StartedRun&) = delete;
  virtual ~StartedRun() = default;
  virtual void stop(int signal) = 0;  // a second time: without patience
};

// Begins a run. `ended` is called once, never from within the call.
using StartRun = std::function<std::unique_ptr<StartedRun>(
    Job job, std::function<void(const RunRecord& record)> ended)>;

// As many runs at a time as were allowed; others wait in their order.
class RunQueue {
 public:
  struct Most {
    std::size_t running = 2;
    std::size_t waiting = 256;
    std::uint64_t waiting_bytes = 256 << 20;  // of what waits
  };
  using Ticket = std::uint64_t;
  // nullptr: it never began, as the queue was drained.
  using Ended = std::function<void(const RunRecord* record)>;

  RunQueue(EventLoop& loop, Most most, StartRun start);
  RunQueue(const RunQueue&) = delete;
  RunQueue& operator=(const RunQueue&) = delete;

  // nullopt: the queue is full. `bytes`: what the request holds while it waits.
  [[nodiscard]] std::optional<Ticket> submit(Job job, std::uint64_t bytes, Ended ended);
  // Nobody waits for it any more: it is stopped, or never begins, and `ended` is not called.
  void abandon(Ticket ticket);
  // Ends all: who waits never begins, who runs is stopped; again: without patience.
  void drain(int signal);

  [[nodiscard]] std::size_t running() const { return running_.size(); }
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  // Called whenever one of the two has changed.
  void on_change(std::function<void()> changed) { changed_ = std::move(changed); }

 private:
  struct Waiting {
    Ticket ticket;
    Job job;
    std::uint64_t bytes;
    Ended ended;
    Clock::time_point since;
  };
  struct Running {
    std::unique_ptr<StartedRun> run;
    Ended ended;  // empty: abandoned
    Clock::duration queued;
  };

  void start_more();
  void on_ended(Ticket ticket, const RunRecord& record);

  EventLoop& loop_;
  Most most_;
  StartRun start_;
  Ticket next_ = 1;
  std::uint64_t waiting_bytes_ = 0;
  std::deque<Waiting> waiting_;
  std::map<Ticket, Running> running_;
  std::function<void()> changed_ = [] {};
};

// Real runs on this host.
class Host;
[[nodiscard]] StartRun runs_on(EventLoop& loop, Host& host);

}  // namespace wardcase::supervisor
