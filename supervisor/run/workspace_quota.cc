// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/workspace_quota.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include <algorithm>
#include <utility>

#include "sandbox/sys/files.h"

namespace wardcase::supervisor {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kSlice{2};
constexpr milliseconds kShortestPause{10};
constexpr milliseconds kLongestPause{100};
constexpr seconds kLongestWithoutWalk{1};
// A walk of a usual tree takes a fifth of one processor where the free space gives
// cause for it, and a twentieth where it does not.
constexpr int kPausesAfterWalk = 4;
constexpr seconds kLongestPauseAfterWalk{1};
constexpr int kPausesWithoutCause = 20;
// As fast as a program can fill a disk: the next look comes before it could be past the budget.
constexpr std::uint64_t kBytesPerMillisecond = 4ULL << 20;
constexpr std::uint64_t kInodesPerMillisecond = 500;
constexpr seconds kLongestFirst{5};
constexpr seconds kLongestLast{10};

std::uint64_t less(std::uint64_t from, std::uint64_t what) { return from - std::min(from, what); }

}  // namespace

sys::Result<std::unique_ptr<WorkspaceQuota>> WorkspaceQuota::open(
    EventLoop& loop, const std::vector<std::string>& paths, const Rules& rules) {
  std::vector<WorkspaceRoot> roots;
  for (const std::string& path : paths) {
    auto place = sys::open_at(AT_FDCWD, path.c_str(), O_PATH);
    if (!place) return tl::unexpected(std::move(place).error());
    struct stat info = {};
    if (::fstat(place->get(), &info) < 0) {
      return tl::unexpected(sys::errno_error("look at '" + path + "'"));
    }
    roots.push_back(
        {path, *std::move(place), info.st_dev, rules.owner.value_or(info.st_uid), info.st_ino});
  }
  return std::unique_ptr<WorkspaceQuota>(new WorkspaceQuota(loop, std::move(roots), rules));
}

// The coarse clock is the one that stamps files.
WorkspaceQuota::WorkspaceQuota(EventLoop& loop, std::vector<WorkspaceRoot> roots,
                               const Rules& rules)
    : loop_(loop), roots_(std::move(roots)), rules_(rules) {
  (void)::clock_gettime(CLOCK_REALTIME_COARSE, &began_);
}

WorkspaceQuota::~WorkspaceQuota() { loop_.cancel(timer_); }

void WorkspaceQuota::measure_first(std::function<void(const FirstLook&)> done) {
  WalkRules first = walk_rules(Reopen::never);
  first.most_inodes = rules_.countable_files;
  first.refuse_privileged = true;
  walk(first, kLongestFirst, [this, done = std::move(done)] {
    FirstLook found;
    if (!walk_->privileged().empty()) {
      found.refused = "'" + walk_->privileged() +
                      "' gives rights to whoever runs it (setuid, setgid or capabilities), and "
                      "the program could rewrite it; mount it read-only, or take that mode away";
    } else if (is_given_up_ || walk_->saw_too_many()) {
      found.uncountable =
          "what can be written to holds too many files to count them before "
          "the start (more than " +
          std::to_string(rules_.countable_files) + ", or " + std::to_string(kLongestFirst.count()) +
          " s)";
    }
    at_first_ = walk_->use();
    done(found);
  });
}

void WorkspaceQuota::watch(pid_t init, Done over) {
  init_ = init;
  over_ = std::move(over);
  plan_next_look();
}

void WorkspaceQuota::measure_last(Done done) {
  init_ = -1;
  loop_.cancel(std::exchange(timer_, 0));
  walk(walk_rules(Reopen::all), kLongestLast, std::move(done));
}

// Names of one file cost next to nothing, but each takes time to look at: with so many that
// no walk would come to its end the budget could be passed unseen.
bool WorkspaceQuota::is_over() const {
  if (walk_->saw_too_many()) return true;
  const DiskUse now = used();
  return now.bytes > rules_.most.bytes || now.inodes > rules_.most.inodes;
}

WalkRules WorkspaceQuota::walk_rules(Reopen reopen) const {
  return {reopen, began_, at_first_.inodes + rules_.most.inodes + rules_.countable_files,
          /*refuse_privileged=*/false};
}

void WorkspaceQuota::walk_again() {
  walk(walk_rules(Reopen::where_needed), kLongestLast, [this] { judge(); });
}

void WorkspaceQuota::walk(const WalkRules& with, seconds longest, Done walked) {
  walk_began_ = Clock::now();
  walk_deadline_ = walk_began_ + longest;
  walked_ = std::move(walked);
  is_given_up_ = false;
  free_at_walk_ = free_space();
  walk_.emplace(roots_, with);
  held_.reset();
  if (init_ > 0) held_.emplace(init_, roots_, began_, rules_.open_files);
  go_on();
}

void WorkspaceQuota::go_on() {
  timer_ = 0;
  const auto until = Clock::now() + kSlice;
  const bool is_done = walk_->step(until) && (!held_ || held_->step(until, *walk_));
  is_given_up_ = !is_done && Clock::now() >= walk_deadline_;
  if (!is_done && !is_given_up_) {
    timer_ = loop_.at(Clock::now(), [this] { go_on(); });
    return;
  }
  walk_took_ = Clock::now() - walk_began_;
  const Done walked = std::move(walked_);  // it may destroy this
  walked();
}

void WorkspaceQuota::look() {
  timer_ = 0;
  const auto since = Clock::now() - walk_began_ - walk_took_;
  const DiskUse now = free_space();
  const DiskUse lost = {less(free_at_walk_.bytes, now.bytes),
                        less(free_at_walk_.inodes, now.inodes)};
  const bool is_time = could_be_over(lost)
                           ? since >= std::min<Clock::duration>(kLongestPauseAfterWalk,
                                                                kPausesAfterWalk * walk_took_)
                           : since >= std::max<Clock::duration>(kLongestWithoutWalk,
                                                                kPausesWithoutCause * walk_took_);
  if (!is_time) return plan_next_look();
  walk_again();
}

// Things that are moved and removed during a walk can make it say too much: only
// the second of two in a row counts.
void WorkspaceQuota::judge() {
  if (!is_over()) {
    was_over_ = false;
    return plan_next_look();
  }
  if (std::exchange(was_over_, true)) {
    const Done over = std::move(over_);  // it may destroy this
    return over();
  }
  walk_again();
}

void WorkspaceQuota::plan_next_look() {
  const DiskUse now = used();
  const DiskUse free = free_space();
  const auto room = [](std::uint64_t most, std::uint64_t use, std::uint64_t before,
                       std::uint64_t after) { return less(less(most, use), less(before, after)); };
  const std::uint64_t soonest = std::min(
      room(rules_.most.bytes, now.bytes, free_at_walk_.bytes, free.bytes) / kBytesPerMillisecond,
      room(rules_.most.inodes, now.inodes, free_at_walk_.inodes, free.inodes) /
          kInodesPerMillisecond);
  const auto pause =
      std::clamp<std::uint64_t>(soonest, kShortestPause.count(), kLongestPause.count());
  timer_ = loop_.at(Clock::now() + milliseconds(pause), [this] { look(); });
}

// Of each file system once.
DiskUse WorkspaceQuota::free_space() const {
  DiskUse sum;
  for (std::size_t i = 0; i < roots_.size(); ++i) {
    const auto is_counted = [&](const WorkspaceRoot& before) {
      return before.device == roots_[i].device;
    };
    const auto own = roots_.begin() + static_cast<std::ptrdiff_t>(i);
    struct statfs files = {};
    if (std::any_of(roots_.begin(), own, is_counted) ||
        ::fstatfs(roots_[i].place.get(), &files) < 0) {
      continue;
    }
    sum.bytes += files.f_bfree * static_cast<std::uint64_t>(files.f_bsize);
    sum.inodes += files.f_ffree;
  }
  return sum;
}

DiskUse WorkspaceQuota::used() const {
  return {less(walk_->use().bytes, at_first_.bytes), less(walk_->use().inodes, at_first_.inodes)};
}

bool WorkspaceQuota::could_be_over(const DiskUse& lost) const {
  const DiskUse now = used();
  return now.bytes + lost.bytes > rules_.most.bytes ||
         now.inodes + lost.inodes > rules_.most.inodes;
}

}  // namespace wardcase::supervisor
