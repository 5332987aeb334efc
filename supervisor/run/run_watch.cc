// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <sys/statfs.h>

#include <algorithm>
#include <cerrno>

#include "supervisor/run/run_state.h"

// The limits while the program runs. Each check arms its own next one: there is
// no tick. Where a control group holds a limit, nothing is polled for it.
namespace wardcase::supervisor {
namespace {

using policies::LimitId;
using sandbox::Enforcement;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr milliseconds kShortestCheck{5};
constexpr milliseconds kLongestTreeCheck{50};
// How long the kernel may take from an event to the death of the process that it chose.
constexpr milliseconds kOomSettles{1000};
constexpr std::uint64_t kInodeBytes = 1024;  // of a tmpfs, which counts attributes as inodes
// As fast as a program can fill memory: the next look comes before it could be past the limit.
constexpr std::uint64_t kBytesPerMillisecond = 4ULL << 20;

}  // namespace

std::uint64_t Run::Impl::limit(LimitId id) const { return made.limits.get(id).value_or(0); }

void Run::Impl::note_limit(LimitId id) {
  const std::string name(policies::limit_row(id).key);
  auto& hit = record.limits_hit;
  if (std::find(hit.begin(), hit.end(), name) == hit.end()) hit.push_back(name);
}

void Run::Impl::arm_limits() {
  loop.cancel(deadline);
  deadline = loop.at(exec_at + made.limits.timeout(), [this] {
    note_limit(LimitId::timeout);
    terminate(RunStatus::timeout, "time limit of " +
                                      policies::format_limit(policies::limit_row(LimitId::timeout),
                                                             made.limits.get(LimitId::timeout)) +
                                      " reached");
  });
  if (made.limits.get(LimitId::idle_timeout)) check_idle();
  // Wall time ends it first where the processors can't use up more than the limit till then.
  const auto cpu_limit = made.limits.get(LimitId::cpu_time);
  const std::uint64_t most = limit(LimitId::timeout) * host.cpus().size();
  if (cpu_limit && *cpu_limit < most) check_cpu_time();
  if (made.enforced_by[static_cast<std::size_t>(LimitId::memory)] == Enforcement::watcher ||
      made.enforced_by[static_cast<std::size_t>(LimitId::pids)] == Enforcement::rlimit) {
    check_tree();
  }
  watch_workspaces();
}

// Delivers and keeps up to the limit; what comes after is read and counted, since
// a full pipe would block the program and turn "too much" into "timed out".
void Run::Impl::on_output(Stream stream, std::string_view bytes) {
  last_output_at = Clock::now();
  const auto most = made.limits.get(LimitId::output);
  const std::string_view kept = transcript.take(stream, bytes, most);
  if (!kept.empty()) observer->on_output(stream, kept);
  if (kept.size() == bytes.size()) return;
  note_limit(LimitId::output);
  terminate(RunStatus::output_limit, std::string(stream == Stream::out ? "stdout" : "stderr") +
                                         " passed its limit of " + policies::format_size(*most));
}

// What came is all that there will be. A terminal says so by EIO; of a pipe it is a part only, and
// an end that seemed to be the program's own is none.
void Run::Impl::on_output_broken(Stream stream, int error) {
  if (spec.terminal && error == EIO) return;
  const std::string_view what =
      stream == Stream::out ? "read the program's stdout" : "read the program's stderr";
  if (!has_cause) return lose_track(what, error);
  if (record.status != RunStatus::exited && record.status != RunStatus::signaled) return;
  record.status = RunStatus::lost;
  record.error = sys::Error{error, std::string(what)}.message();
}

void Run::Impl::check_idle() {
  if (phase != Phase::running) return;
  const auto allowed = milliseconds(limit(LimitId::idle_timeout));
  const Clock::time_point due = last_output_at + allowed;
  if (Clock::now() < due) {
    idle_timer = loop.at(due, [this] { check_idle(); });
    return;
  }
  note_limit(LimitId::idle_timeout);
  terminate(RunStatus::idle, "no output for " + policies::format_duration(allowed));
}

sandbox::ProcessTree Run::Impl::tree() const {
  if (made.request.has_namespaces()) return {box_proc.get()};
  return {box.init > 0 ? box_proc.get() : -1, box.init};
}

sandbox::TreeUsage Run::Impl::look_at_tree() {
  const sandbox::TreeUsage usage = sandbox::read_tree_usage(tree());
  // Processes that nobody waited for vanish from the sum: it never shrinks all the same.
  last_tree_cpu = std::max(last_tree_cpu, usage.cpu);
  peak_tree_threads = std::max(peak_tree_threads, usage.threads);
  // Forks under way are counted by the kernel and not listed: some of them may have
  // been refused although fewer were seen. What is noted here is sure.
  if (made.enforced_by[static_cast<std::size_t>(LimitId::pids)] == Enforcement::rlimit &&
      usage.tasks >= limit(LimitId::pids)) {
    note_limit(LimitId::pids);
  }
  return usage;
}

microseconds Run::Impl::cpu_used() {
  if (made.cgroup != nullptr) {
    if (const auto cpu = made.cgroup->read_usage().cpu; cpu) return *cpu;
  }
  (void)look_at_tree();
  return last_tree_cpu;
}

// The next look is when all processors together could have used up what is left.
void Run::Impl::check_cpu_time() {
  if (phase != Phase::running) return;
  const auto allowed = milliseconds(limit(LimitId::cpu_time));
  const microseconds used = cpu_used();
  if (used >= allowed) {
    note_limit(LimitId::cpu_time);
    return terminate(RunStatus::cpu_time,
                     "cpu time limit of " + policies::format_duration(allowed) + " reached");
  }
  const auto soonest = (allowed - used) / static_cast<int>(host.cpus().size());
  cpu_timer = loop.at(Clock::now() + std::max<microseconds>(soonest, kShortestCheck),
                      [this] { check_cpu_time(); });
}

// For hosts where no control group counts: memory (what lies on the writable file
// system included), and how near the process limit the tree is.
void Run::Impl::check_tree() {
  if (phase != Phase::running && phase != Phase::terminating) return;
  const sandbox::TreeUsage usage = look_at_tree();
  const std::uint64_t most = limit(LimitId::memory);
  struct statfs files = {};
  std::uint64_t bytes = usage.resident_bytes;
  if (box_directory.is_open() && ::fstatfs(box_directory.get(), &files) == 0) {
    bytes += (files.f_blocks - files.f_bfree) * static_cast<std::uint64_t>(files.f_bsize);
    bytes += (files.f_files - files.f_ffree) * kInodeBytes;
  }
  // Resident sizes count shared pages once for each process: look closer before judging.
  if (bytes > most) bytes = bytes - usage.resident_bytes + sandbox::read_tree_pss(tree());
  peak_tree_bytes = std::max(peak_tree_bytes, bytes);
  if (bytes > most &&
      made.enforced_by[static_cast<std::size_t>(LimitId::memory)] == Enforcement::watcher) {
    note_limit(LimitId::memory);
    set_cause(RunStatus::oom, describe_oom());
    return kill_tree();
  }
  const std::uint64_t room = most > bytes ? most - bytes : 0;
  const auto next =
      std::clamp(milliseconds(room / kBytesPerMillisecond), kShortestCheck, kLongestTreeCheck);
  tree_timer = loop.at(Clock::now() + next, [this] { check_tree(); });
}

void Run::Impl::check_memory_event() {
  if (made.cgroup == nullptr || phase == Phase::over) return;
  switch (made.cgroup->read_oom_event()) {
    case sandbox::OomEvent::nothing:
      return;
    case sandbox::OomEvent::host:
      if (std::find(record.limits_hit.begin(), record.limits_hit.end(), "host_memory") ==
          record.limits_hit.end()) {
        record.limits_hit.emplace_back("host_memory");
      }
      return;
    case sandbox::OomEvent::box:
      return on_box_out_of_memory();
  }
}

// The kernel kills one process. Where the policy lets the others go on, it is the end
// of the run only if that one was the program: then its death follows soon.
void Run::Impl::on_box_out_of_memory() {
  note_limit(LimitId::memory);
  if (made.goes_on_after_oom) {
    has_fresh_oom = true;
    loop.cancel(oom_timer);
    oom_timer = loop.at(Clock::now() + kOomSettles, [this] { has_fresh_oom = false; });
    return;
  }
  set_cause(RunStatus::oom, describe_oom());
  kill_tree();
}

std::string Run::Impl::describe_oom() const {
  return "out of memory: limit " + policies::format_size(limit(LimitId::memory));
}

}  // namespace wardcase::supervisor
