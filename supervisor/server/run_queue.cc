// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/run_queue.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "supervisor/languages/job_run.h"
#include "supervisor/run/host.h"

namespace wardcase::supervisor {

namespace {

class RealRun : public StartedRun {
 public:
  RealRun(EventLoop& loop, Host& host) : run_(loop, host) {}
  void start(Job job, RunObserver& observer) { run_.start(std::move(job), observer); }
  void stop(int signal) override { run_.stop(signal); }
  void set_paused(bool is_paused) override {
    for (const Stream stream : {Stream::out, Stream::err}) {
      is_paused ? run_.pause_output(stream) : run_.resume_output(stream);
    }
  }
  [[nodiscard]] RunRecord record_so_far() const override { return run_.record_so_far(); }

 private:
  JobRun run_;
};

}  // namespace

StartRun runs_on(EventLoop& loop, Host& host) {
  return [&loop, &host](Job job, RunObserver& observer) {
    auto run = std::make_unique<RealRun>(loop, host);
    run->start(std::move(job), observer);
    return run;
  };
}

// Stands between a run and who asked for it, and knows how long that one has waited.
class RunQueue::Running : private RunObserver {
 public:
  Running(RunQueue& queue, Waiting waiting)
      : queue_(queue),
        ticket_(waiting.ticket),
        memory_(queue.promise_of(waiting.asked.memory)),
        observer_(*waiting.observer),
        queued_(
            std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - waiting.since)) {}

  void start(Job job) { run_ = queue_.start_(std::move(job), *this); }
  [[nodiscard]] StartedRun& run() { return *run_; }
  [[nodiscard]] std::uint64_t memory() const { return memory_; }
  [[nodiscard]] RunRecord record_so_far() const {
    RunRecord record = run_->record_so_far();
    record.queued = queued_;
    return record;
  }

 private:
  void on_start(std::string_view run_id) override { observer_.on_start(run_id); }
  void on_output(Stream stream, std::string_view bytes) override {
    observer_.on_output(stream, bytes);
  }
  void on_end(const RunRecord& record) override {
    RunRecord told = record;
    told.queued = queued_;
    const Ticket ticket = ticket_;
    RunQueue& queue = queue_;
    observer_.on_end(told);
    queue.on_ended(ticket);
  }

  RunQueue& queue_;
  Ticket ticket_;
  std::uint64_t memory_;
  QueueObserver& observer_;
  std::chrono::microseconds queued_;
  std::unique_ptr<StartedRun> run_;
};

RunQueue::RunQueue(EventLoop& loop, Most most, StartRun start)
    : loop_(loop), most_(most), start_(std::move(start)) {}

RunQueue::~RunQueue() = default;

std::uint64_t RunQueue::promise_of(const std::optional<std::uint64_t>& memory) const {
  return most_.memory ? memory.value_or(*most_.memory) : 0;
}

bool RunQueue::has_room_for(const std::optional<std::uint64_t>& memory) const {
  return !most_.memory || promised_ + promise_of(memory) <= *most_.memory;
}

void RunQueue::withdraw(const std::optional<std::uint64_t>& memory) {
  promised_ -= promise_of(memory);
  start_more();
}

bool RunQueue::can_start(const Asked& asked) const {
  return running_.size() < most_.running && has_room_for(asked.memory);
}

std::optional<RunQueue::Ticket> RunQueue::submit(Asked asked, QueueObserver& observer) {
  const bool has_to_wait = waiting_count_ > 0 || !can_start(asked);
  if (has_to_wait &&
      (waiting_count_ >= most_.waiting || waiting_bytes_ + asked.bytes > most_.waiting_bytes)) {
    return std::nullopt;
  }
  const Ticket ticket = next_++;
  waiting_bytes_ += asked.bytes;
  ++waiting_count_;
  const std::string owner = asked.owner;
  auto& line = waiting_[owner];
  if (line.empty()) turns_.push_back(owner);
  line.push_back({ticket, std::move(asked), &observer, Clock::now()});
  start_more();
  return ticket;
}

// Of who has waited longest for a turn; then the turn is the next one's.
RunQueue::Waiting RunQueue::take_next() {
  const auto found = waiting_.find(turns_.front());
  turns_.pop_front();
  Waiting next = std::move(found->second.front());
  found->second.pop_front();
  if (found->second.empty()) {
    waiting_.erase(found);
  } else {
    turns_.push_back(found->first);
  }
  waiting_bytes_ -= next.asked.bytes;
  --waiting_count_;
  return next;
}

// Nobody overtakes the one whose turn it is: small ones could keep a large one out for ever.
void RunQueue::start_more() {
  while (!turns_.empty() && can_start(waiting_.at(turns_.front()).front().asked)) {
    Waiting next = take_next();
    Job job = std::move(next.asked.job);
    QueueObserver& observer = *next.observer;
    const Ticket ticket = next.ticket;
    auto& entry = running_[ticket];
    entry = std::make_unique<Running>(*this, std::move(next));
    promised_ += entry->memory();
    observer.on_begun();
    entry->start(std::move(job));
  }
  changed_();
}

// The run's own call is still under way: what it is made of goes in the next turn.
void RunQueue::on_ended(Ticket ticket) {
  auto entry = running_.extract(ticket);
  promised_ -= entry.mapped()->memory();
  std::shared_ptr<Running> over = std::move(entry.mapped());
  loop_.post([over = std::move(over)] {});
  start_more();
}

bool RunQueue::stop(Ticket ticket, int signal) {
  if (const auto found = running_.find(ticket); found != running_.end()) {
    found->second->run().stop(signal);
    return false;
  }
  for (auto& [owner, line] : waiting_) {
    const auto at = std::ranges::find(line, ticket, &Waiting::ticket);
    if (at == line.end()) continue;
    waiting_bytes_ -= at->asked.bytes;
    --waiting_count_;
    line.erase(at);
    if (line.empty()) {
      std::erase(turns_, owner);
      waiting_.erase(owner);
    }
    start_more();  // it may have been the one that the others waited for
    return true;
  }
  return false;
}

void RunQueue::set_paused(Ticket ticket, bool is_paused) {
  const auto found = running_.find(ticket);
  if (found != running_.end()) found->second->run().set_paused(is_paused);
}

std::optional<RunRecord> RunQueue::record_so_far(Ticket ticket) const {
  const auto found = running_.find(ticket);
  if (found == running_.end()) return std::nullopt;
  return found->second->record_so_far();
}

void RunQueue::drain(int signal) {
  turns_.clear();
  waiting_bytes_ = 0;
  waiting_count_ = 0;
  auto given_up = std::exchange(waiting_, {});
  for (auto& [owner, line] : given_up) {
    for (Waiting& each : line) each.observer->on_given_up();
  }
  std::vector<StartedRun*> runs;  // one may end, and go from the map, while it is told
  for (auto& [ticket, each] : running_) runs.push_back(&each->run());
  for (StartedRun* run : runs) run->stop(signal);
  changed_();
}

}  // namespace wardcase::supervisor
