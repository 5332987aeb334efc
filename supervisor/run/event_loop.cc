// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/event_loop.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <string>

namespace wardcase::supervisor {
namespace {

constexpr std::size_t kEventsATurn = 64;

// What epoll gives back with an event: the descriptor, and which of its lives.
constexpr std::uint64_t make_key(int fd, std::uint32_t generation) {
  return (std::uint64_t{generation} << 32U) | static_cast<std::uint32_t>(fd);
}

}  // namespace

sys::Result<EventLoop> EventLoop::create() {
  sys::UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.is_open()) return tl::unexpected(sys::errno_error("create epoll set"));
  return EventLoop(std::move(epoll));
}

EventLoop::EventLoop(EventLoop&& other) noexcept = default;
EventLoop& EventLoop::operator=(EventLoop&& other) noexcept = default;
EventLoop::~EventLoop() = default;

sys::Status EventLoop::watch(int fd, std::uint32_t events, Handler handler) {
  const std::uint32_t generation = ++next_generation_;
  if (auto added = control(EPOLL_CTL_ADD, fd, generation, events); !added) return added;
  watches_[fd] = Watch{std::make_shared<Handler>(std::move(handler)), generation, events};
  return {};
}

sys::Status EventLoop::change(int fd, std::uint32_t events) {
  const auto found = watches_.find(fd);
  if (found == watches_.end()) {
    return tl::unexpected(
        sys::Error{ENOENT, "change watch of descriptor '" + std::to_string(fd) + "'"});
  }
  if (auto changed = control(EPOLL_CTL_MOD, fd, found->second.generation, events); !changed) {
    return changed;
  }
  found->second.events = events;
  return {};
}

void EventLoop::forget(int fd) {
  if (watches_.erase(fd) == 0) return;
  // Cannot fail for what was added, unless the caller closed it: then it is gone anyway.
  (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

sys::Status EventLoop::control(int operation, int fd, std::uint32_t generation,
                               std::uint32_t events) const {
  epoll_event wanted = {};
  wanted.events = events;
  wanted.data.u64 = make_key(fd, generation);
  if (::epoll_ctl(epoll_.get(), operation, fd, &wanted) < 0) {
    return tl::unexpected(sys::errno_error("watch descriptor '" + std::to_string(fd) + "'"));
  }
  return {};
}

EventLoop::TimerId EventLoop::at(Clock::time_point when, Task task) {
  const TimerId timer = next_timer_++;
  timers_.emplace(std::pair(when, timer), std::move(task));
  timer_times_.emplace(timer, when);
  return timer;
}

void EventLoop::cancel(TimerId timer) {
  const auto found = timer_times_.find(timer);
  if (found == timer_times_.end()) return;
  timers_.erase(std::pair(found->second, timer));
  timer_times_.erase(found);
}

void EventLoop::post(Task task) { posted_.push_back(std::move(task)); }

sys::Status EventLoop::run() {
  std::array<epoll_event, kEventsATurn> ready = {};
  while (!stopped_) {
    const int count = ::epoll_wait(epoll_.get(), ready.data(), static_cast<int>(ready.size()),
                                   wait_milliseconds());
    // Interrupted: a turn without events, which computes the wait anew.
    if (count < 0 && errno != EINTR) return tl::unexpected(sys::errno_error("wait for events"));
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = ready[static_cast<std::size_t>(i)];
      handle(event.data.u64, event.events);
    }
    run_due_timers();
    run_posted();
  }
  stopped_ = false;
  return {};
}

int EventLoop::wait_milliseconds() const {
  if (!posted_.empty()) return 0;
  if (timers_.empty()) return -1;
  // Rounded up: a wake-up before the time would only turn the loop in vain.
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(timers_.begin()->first.first - Clock::now());
  return static_cast<int>(
      std::clamp<std::int64_t>(left.count(), 0, std::numeric_limits<int>::max()));
}

void EventLoop::handle(std::uint64_t key, std::uint32_t events) {
  const auto found = watches_.find(static_cast<int>(key & 0xffffffffU));
  if (found == watches_.end()) return;         // forgotten by a handler before it
  const Watch watch = found->second;           // a copy: the handler may forget itself
  if (watch.generation != key >> 32U) return;  // the number is another descriptor by now
  const std::uint32_t wanted = events & (watch.events | EPOLLERR | EPOLLHUP);
  if (wanted == 0) return;  // a handler before it no longer asks for these
  (*watch.handler)(wanted);
}

// Only those that stand there now: a timer that sets itself anew for a time that
// has come waits for the next turn, so that it cannot hold the loop.
void EventLoop::run_due_timers() {
  const Clock::time_point now = Clock::now();
  std::vector<TimerId> due;
  for (const auto& [key, task] : timers_) {
    if (key.first > now) break;
    due.push_back(key.second);
  }
  for (const TimerId timer : due) {
    const auto time = timer_times_.find(timer);
    if (time == timer_times_.end()) continue;  // cancelled by a task before it
    auto entry = timers_.extract(std::pair(time->second, timer));
    timer_times_.erase(time);
    entry.mapped()();
  }
}

void EventLoop::run_posted() {
  const std::vector<Task> tasks = std::exchange(posted_, {});
  for (const Task& task : tasks) task();
}

}  // namespace wardcase::supervisor
