// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/run_queue.h"

#include <algorithm>
#include <iterator>
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

// Of what the owner may have; without a bound nobody counts.
std::uint64_t own_promise_of(const RunQueue::Asked& asked) {
  return asked.memory.value_or(asked.most.memory.value_or(0));
}

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
        owner_(waiting.asked.owner),
        memory_(queue.promise_of(waiting.asked.memory)),
        own_memory_(own_promise_of(waiting.asked)),
        observer_(*waiting.observer),
        queued_(
            std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - waiting.since)) {}

  void start(Job job) { run_ = queue_.start_(std::move(job), *this); }
  [[nodiscard]] StartedRun& run() { return *run_; }
  [[nodiscard]] const std::string& owner() const { return owner_; }
  [[nodiscard]] std::uint64_t memory() const { return memory_; }
  [[nodiscard]] std::uint64_t own_memory() const { return own_memory_; }
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
    queue.on_ended(ticket, told);
  }

  RunQueue& queue_;
  Ticket ticket_;
  std::string owner_;
  std::uint64_t memory_;
  std::uint64_t own_memory_;
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

// By what its owner has already.
bool RunQueue::may_begin(const Asked& asked) const {
  const auto found = owners_.find(asked.owner);
  if (found == owners_.end()) return true;
  const Owner& owner = found->second;
  const OwnersMost& most = asked.most;
  return (!most.running || owner.running < *most.running) &&
         (!most.memory || owner.promised + own_promise_of(asked) <= *most.memory);
}

bool RunQueue::has_own_room(const std::string& owner, const OwnersMost& most,
                            std::uint64_t bytes) const {
  const auto found = owners_.find(owner);
  if (found == owners_.end()) return true;
  return (!most.waiting || found->second.line.size() < *most.waiting) &&
         found->second.waiting_bytes + bytes <= most_.owners_bytes;
}

// The others who wait may be those that have to wait for their own.
bool RunQueue::has_to_wait(const Asked& asked) const {
  const auto found = owners_.find(asked.owner);
  const bool has_waiting = found != owners_.end() && !found->second.line.empty();
  return has_waiting || next_turn() != turns_.end() || !may_begin(asked) || !can_start(asked);
}

std::optional<RunQueue::Ticket> RunQueue::submit(Asked asked, QueueObserver& observer) {
  const bool is_full = waiting_count_ >= most_.waiting ||
                       waiting_bytes_ + asked.bytes > most_.waiting_bytes ||
                       !has_own_room(asked.owner, asked.most, asked.bytes);
  if (is_full && has_to_wait(asked)) return std::nullopt;
  const Ticket ticket = next_++;
  Owner& owner = owners_[asked.owner];
  if (owner.line.empty()) turns_.push_back(asked.owner);
  waiting_bytes_ += asked.bytes;
  owner.waiting_bytes += asked.bytes;
  ++waiting_count_;
  owner.line.push_back({ticket, std::move(asked), &observer, Clock::now()});
  start_more();
  return ticket;
}

// Of those who may begin something the one who has waited longest for a turn.
RunQueue::Turns::const_iterator RunQueue::next_turn() const {
  return std::ranges::find_if(turns_, [this](const std::string& owner) {
    return may_begin(owners_.at(owner).line.front().asked);
  });
}

// Then the turn is the next one's.
RunQueue::Waiting RunQueue::take(const Turns::const_iterator& turn) {
  std::string name = *turn;
  turns_.erase(turn);
  Owner& owner = owners_.at(name);
  Waiting next = std::move(owner.line.front());
  owner.line.pop_front();
  if (!owner.line.empty()) turns_.push_back(std::move(name));
  owner.waiting_bytes -= next.asked.bytes;
  waiting_bytes_ -= next.asked.bytes;
  --waiting_count_;
  return next;
}

void RunQueue::forget_idle(const std::string& owner) {
  const auto found = owners_.find(owner);
  if (found->second.line.empty() && found->second.running == 0) owners_.erase(found);
}

// Nobody overtakes the one whose turn it is: small ones could keep a large one out for ever.
void RunQueue::start_more() {
  for (auto turn = next_turn(); turn != turns_.end(); turn = next_turn()) {
    if (!can_start(owners_.at(*turn).line.front().asked)) break;
    Waiting next = take(turn);
    Job job = std::move(next.asked.job);
    QueueObserver& observer = *next.observer;
    const Ticket ticket = next.ticket;
    auto& entry = running_[ticket];
    entry = std::make_unique<Running>(*this, std::move(next));
    promised_ += entry->memory();
    Owner& owner = owners_.at(entry->owner());
    owner.promised += entry->own_memory();
    ++owner.running;
    observer.on_begun();
    entry->start(std::move(job));
  }
  changed_();
}

// The run's own call is still under way: what it is made of goes in the next turn.
void RunQueue::on_ended(Ticket ticket, const RunRecord& record) {
  auto entry = running_.extract(ticket);
  std::shared_ptr<Running> over = std::move(entry.mapped());
  promised_ -= over->memory();
  Owner& owner = owners_.at(over->owner());
  owner.promised -= over->own_memory();
  --owner.running;
  forget_idle(over->owner());
  ended_(over->owner(), record);
  loop_.post([over = std::move(over)] {});
  start_more();
}

bool RunQueue::stop(Ticket ticket, int signal) {
  if (const auto found = running_.find(ticket); found != running_.end()) {
    found->second->run().stop(signal);
    return false;
  }
  for (auto& [name, owner] : owners_) {
    const auto at = std::ranges::find(owner.line, ticket, &Waiting::ticket);
    if (at == owner.line.end()) continue;
    owner.waiting_bytes -= at->asked.bytes;
    waiting_bytes_ -= at->asked.bytes;
    --waiting_count_;
    owner.line.erase(at);
    if (owner.line.empty()) std::erase(turns_, name);
    forget_idle(std::string(name));
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
  std::vector<Waiting> given_up;
  for (auto& [name, owner] : owners_) {
    std::ranges::move(owner.line, std::back_inserter(given_up));
    owner.line.clear();
    owner.waiting_bytes = 0;
  }
  std::erase_if(owners_, [](const auto& each) { return each.second.running == 0; });
  for (Waiting& each : given_up) each.observer->on_given_up();
  std::vector<StartedRun*> runs;  // one may end, and go from the map, while it is told
  for (auto& [ticket, each] : running_) runs.push_back(&each->run());
  for (StartedRun* run : runs) run->stop(signal);
  changed_();
}

}  // namespace wardcase::supervisor
