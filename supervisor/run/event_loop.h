// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"

namespace wardcase::supervisor {

using Clock = std::chrono::steady_clock;  // CLOCK_MONOTONIC

// The one epoll loop of a supervisor: descriptors, timers and posted calls, on one
// thread. Handlers may watch, forget, schedule and stop anything, themselves included.
class EventLoop {
 public:
  using Handler = std::function<void(std::uint32_t events)>;
  using Task = std::function<void()>;
  using TimerId = std::uint64_t;  // 0 is never a timer

  static sys::Result<EventLoop> create();
  // Out of line: inlined into a Result, g++ 12 takes them for a free of what is not on the heap.
  EventLoop(EventLoop&& other) noexcept;
  EventLoop& operator=(EventLoop&& other) noexcept;
  ~EventLoop();

  // Calls `handler` with the epoll events that came. `fd` is borrowed and must
  // be forgotten before it is closed. EPERM: a regular file, which is always ready.
  [[nodiscard]] sys::Status watch(int fd, std::uint32_t events, Handler handler);
  [[nodiscard]] sys::Status change(int fd, std::uint32_t events);
  void forget(int fd);  // unknown fds are fine

  TimerId at(Clock::time_point when, Task task);
  void cancel(TimerId timer);  // 0 and gone timers are fine

  // Runs `task` in the next turn.
  void post(Task task);

  // Turns until stop(); the turn in which that was called is finished first.
  // Fails only where epoll itself does.
  [[nodiscard]] sys::Status run();
  void stop() { stopped_ = true; }

 private:
  struct Watch {
    std::shared_ptr<Handler> handler;  // shared with a call under way: it may forget itself
    std::uint32_t generation;          // tells a number that was reused from the one before it
    std::uint32_t events;
  };

  explicit EventLoop(sys::UniqueFd epoll) : epoll_(std::move(epoll)) {}
  [[nodiscard]] sys::Status control(int operation, int fd, std::uint32_t generation,
                                    std::uint32_t events) const;
  [[nodiscard]] int wait_milliseconds() const;
  void handle(std::uint64_t key, std::uint32_t events);
  void run_due_timers();
  void run_posted();

  sys::UniqueFd epoll_;
  std::unordered_map<int, Watch> watches_;
  std::map<std::pair<Clock::time_point, TimerId>, Task> timers_;
  std::unordered_map<TimerId, Clock::time_point> timer_times_;
  std::vector<Task> posted_;
  std::uint32_t next_generation_ = 0;
  TimerId next_timer_ = 1;
  bool stopped_ = false;
};

}  // namespace wardcase::supervisor
