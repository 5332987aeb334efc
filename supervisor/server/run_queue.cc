// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/run_queue.h"

#include <csignal>
#include <utility>
#include <vector>

#include "supervisor/languages/job_run.h"
#include "supervisor/run/host.h"

namespace wardcase::supervisor {

namespace {

// Output goes to the record alone.
class RealRun : public StartedRun, private RunObserver {
 public:
  RealRun(EventLoop& loop, Host& host, std::function<void(const RunRecord&)> ended)
      : ended_(std::move(ended)), run_(loop, host) {}
  void start(Job job) { run_.start(std::move(job), *this); }
  void stop(int signal) override { run_.stop(signal); }

 private:
  void on_start(std::string_view) override {}
  void on_output(Stream, std::string_view) override {}
  void on_end(const RunRecord& record) override { ended_(record); }

  std::function<void(const RunRecord&)> ended_;
  JobRun run_;
};

}  // namespace

StartRun runs_on(EventLoop& loop, Host& host) {
  return [&loop, &host](Job job, std::function<void(const RunRecord&)> ended) {
    auto run = std::make_unique<RealRun>(loop, host, std::move(ended));
    run->start(std::move(job));
    return run;
  };
}

RunQueue::RunQueue(EventLoop& loop, Most most, StartRun start)
    : loop_(loop), most_(most), start_(std::move(start)) {}

std::optional<RunQueue::Ticket> RunQueue::submit(Job job, std::uint64_t bytes, Ended ended) {
  const bool has_to_wait = running_.size() >= most_.running || !waiting_.empty();
  if (has_to_wait &&
      (waiting_.size() >= most_.waiting || waiting_bytes_ + bytes > most_.waiting_bytes)) {
    return std::nullopt;
  }
  const Ticket ticket = next_++;
  waiting_bytes_ += bytes;
  waiting_.push_back({ticket, std::move(job), bytes, std::move(ended), Clock::now()});
  start_more();
  return ticket;
}

void RunQueue::start_more() {
  while (!waiting_.empty() && running_.size() < most_.running) {
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    waiting_bytes_ -= next.bytes;
    const Ticket ticket = next.ticket;
    Running& entry = running_[ticket];
    entry.ended = std::move(next.ended);
    entry.queued = Clock::now() - next.since;
    entry.run = start_(std::move(next.job),
                       [this, ticket](const RunRecord& record) { on_ended(ticket, record); });
  }
  changed_();
}

// The run's own call is still under way: what it is made of goes in the next turn.
void RunQueue::on_ended(Ticket ticket, const RunRecord& record) {
  auto entry = running_.extract(ticket);
  std::shared_ptr<StartedRun> over = std::move(entry.mapped().run);
  loop_.post([over = std::move(over)] {});
  if (entry.mapped().ended) {
    RunRecord told = record;
    told.queued = std::chrono::duration_cast<std::chrono::microseconds>(entry.mapped().queued);
    entry.mapped().ended(&told);
  }
  start_more();
}

void RunQueue::abandon(Ticket ticket) {
  for (auto at = waiting_.begin(); at != waiting_.end(); ++at) {
    if (at->ticket != ticket) continue;
    waiting_bytes_ -= at->bytes;
    waiting_.erase(at);
    return changed_();
  }
  const auto found = running_.find(ticket);
  if (found == running_.end()) return;
  found->second.ended = nullptr;
  found->second.run->stop(SIGTERM);
}

void RunQueue::drain(int signal) {
  std::deque<Waiting> given_up = std::exchange(waiting_, {});
  waiting_bytes_ = 0;
  for (Waiting& each : given_up) each.ended(nullptr);
  std::vector<StartedRun*> runs;  // one may end, and go from the map, while it is told
  for (auto& [ticket, each] : running_) runs.push_back(each.run.get());
  for (StartedRun* run : runs) run->stop(signal);
  changed_();
}

}  // namespace wardcase::supervisor
