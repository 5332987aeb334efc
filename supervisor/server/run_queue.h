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
#include <string>
#include <string_view>

#include "supervisor/languages/job.h"
#include "supervisor/run/event_loop.h"
#include "supervisor/run/run.h"
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
  // The program blocks once its pipes are full; what ends it does not wait.
  virtual void set_paused(bool is_paused) = 0;
  // What is known of it so far, and what it has printed.
  [[nodiscard]] virtual RunRecord record_so_far() const = 0;
};

// Begins a run, which `observer` outlives. Its on_end is never called from within the call.
using StartRun = std::function<std::unique_ptr<StartedRun>(Job job, RunObserver& observer)>;

// Hears of a run that it has given to the queue.
class QueueObserver {
 public:
  QueueObserver() = default;
  QueueObserver(const QueueObserver&) = delete;
  QueueObserver& operator=(const QueueObserver&) = delete;
  virtual ~QueueObserver() = default;

  // It waits no longer; also from within submit().
  virtual void on_begun() = 0;
  // As a RunObserver's.
  virtual void on_start(std::string_view run_id) = 0;
  virtual void on_output(Stream stream, std::string_view bytes) = 0;
  // The last of all.
  virtual void on_end(const RunRecord& record) = 0;
  // In its place: it never began, as the queue was drained.
  virtual void on_given_up() = 0;
};

// As many runs at a time as were allowed, and as were promised no more memory than there is;
// others wait. Whose turn it is goes round among those who asked: the first run of one does not
// wait for the thousand of another. One who has as many as he may have waits for those to end, and
// holds up nobody else.
class RunQueue {
 public:
  struct Most {
    std::size_t running = 2;
    std::size_t waiting = 1024;
    std::uint64_t waiting_bytes = 256 << 20;  // of what waits
    std::uint64_t owners_bytes = 128 << 20;   // of that what is of one owner
    std::optional<std::uint64_t> memory;      // promised to those that run, in all
  };
  using Ticket = std::uint64_t;  // 0 is none

  // What one owner may have of each.
  struct OwnersMost {
    std::optional<std::uint64_t> running = std::nullopt;
    std::optional<std::uint64_t> waiting = std::nullopt;
    std::optional<std::uint64_t> memory = std::nullopt;
  };

  struct Asked {
    Job job;
    std::string owner;                    // a caller's name
    std::uint64_t bytes = 0;              // what the request holds while it waits
    std::optional<std::uint64_t> memory;  // what it is promised; nullopt: as much as there is
    OwnersMost most = {};
  };

  RunQueue(EventLoop& loop, Most most, StartRun start);
  RunQueue(const RunQueue&) = delete;
  RunQueue& operator=(const RunQueue&) = delete;
  ~RunQueue();

  // `observer` outlives the run. nullopt: the queue is full.
  [[nodiscard]] std::optional<Ticket> submit(Asked asked, QueueObserver& observer);
  // Whether a refusal would not be the owner's own fault, who has too much waiting.
  [[nodiscard]] bool has_own_room(const std::string& owner, const OwnersMost& most,
                                  std::uint64_t bytes) const;
  // One that runs is stopped. True: it waited, and never begins; its observer hears no more.
  bool stop(Ticket ticket, int signal);
  void set_paused(Ticket ticket, bool is_paused);
  // nullopt: it does not run.
  [[nodiscard]] std::optional<RunRecord> record_so_far(Ticket ticket) const;
  // Memory of what lives beside the runs, and takes from what they are promised.
  [[nodiscard]] bool has_room_for(const std::optional<std::uint64_t>& memory) const;
  void promise(const std::optional<std::uint64_t>& memory) { promised_ += promise_of(memory); }
  void withdraw(const std::optional<std::uint64_t>& memory);
  // Ends all: who waits never begins, who runs is stopped; again: without patience.
  void drain(int signal);

  [[nodiscard]] const Most& most() const { return most_; }
  [[nodiscard]] std::size_t running() const { return running_.size(); }
  [[nodiscard]] std::size_t waiting() const { return waiting_count_; }
  // Called whenever one of the two has changed.
  void on_change(std::function<void()> changed) { changed_ = std::move(changed); }
  // Called with each run that has ended, and whose it was.
  using Ended = std::function<void(const std::string& owner, const RunRecord& record)>;
  void on_end(Ended ended) { ended_ = std::move(ended); }

 private:
  struct Waiting {
    Ticket ticket;
    Asked asked;
    QueueObserver* observer;
    Clock::time_point since;
  };
  struct Owner {
    std::deque<Waiting> line;
    std::uint64_t waiting_bytes = 0;
    std::size_t running = 0;
    std::uint64_t promised = 0;
  };
  class Running;
  using Turns = std::deque<std::string>;

  [[nodiscard]] std::uint64_t promise_of(const std::optional<std::uint64_t>& memory) const;
  [[nodiscard]] bool can_start(const Asked& asked) const;
  [[nodiscard]] bool may_begin(const Asked& asked) const;
  [[nodiscard]] bool has_to_wait(const Asked& asked) const;
  [[nodiscard]] Turns::const_iterator next_turn() const;
  [[nodiscard]] Waiting take(const Turns::const_iterator& turn);
  void forget_idle(const std::string& owner);
  void start_more();
  void on_ended(Ticket ticket, const RunRecord& record);

  EventLoop& loop_;
  Most most_;
  StartRun start_;
  Ticket next_ = 1;
  std::uint64_t waiting_bytes_ = 0;
  std::size_t waiting_count_ = 0;
  std::uint64_t promised_ = 0;
  Turns turns_;  // of those who have something waiting
  std::map<std::string, Owner> owners_;
  std::map<Ticket, std::unique_ptr<Running>> running_;
  std::function<void()> changed_ = [] {};
  Ended ended_ = [](const std::string&, const RunRecord&) {};
};

// Real runs on this host.
class Host;
[[nodiscard]] StartRun runs_on(EventLoop& loop, Host& host);

}  // namespace wardcase::supervisor
