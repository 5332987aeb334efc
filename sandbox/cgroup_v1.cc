// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Whose memory ran out. On v1 an OOM notifies the group whose limit was hit and
// every group below it, and nothing in the leaf tells the two apart afterwards:
// usage falls as the victim dies, max_usage rises with mere page cache, failcnt
// stays 0 on newer kernels, oom_kill counts the victims of an ancestor too. So a
// second eventfd listens on `wardcase/`, the leaf's parent: that one fires for an
// ancestor's limit only. What the leaf heard and its parent did not is the leaf's
// own. The kernel notifies parents first; we read the leaf first, so that an
// ancestor's event between the two reads can't be taken for ours.
#include "sandbox/cgroup_v1.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>
#include <vector>

#include "sandbox/cgroup_files.h"
#include "sandbox/sys/files.h"
#include "sandbox/sys/retry.h"

namespace wardcase::sandbox {
namespace {

using Hierarchy = CgroupHost::Hierarchy;

constexpr std::uint64_t kCpuPeriodMicroseconds = 100'000;
constexpr std::uint64_t kNetworkShare = 4;  // of the memory limit, on top of it

void pause_a_millisecond() {
  constexpr timespec kPause = {0, 1'000'000};
  (void)::nanosleep(&kPause, nullptr);
}

std::uint64_t read_events(const sys::UniqueFd& event) {
  std::uint64_t count = 0;
  const ssize_t size = sys::retry_eintr([&] { return ::read(event.get(), &count, sizeof count); });
  return size == static_cast<ssize_t>(sizeof count) ? count : 0;
}

// Registers an eventfd for the OOM events of the group whose memory.oom_control
// is `control`, through the leaf's cgroup.event_control or its parent's.
sys::Result<sys::UniqueFd> listen_for_oom(int leaf, const char* control,
                                          const char* event_control) {
  sys::UniqueFd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event.is_open()) return tl::unexpected(sys::errno_error("make an eventfd"));
  auto opened = sys::open_at(leaf, control, O_RDONLY);
  if (!opened) return opened;
  auto written = sys::write_file(leaf, event_control,
                                 std::to_string(event.get()) + " " + std::to_string(opened->get()));
  if (!written) return tl::unexpected(std::move(written).error());
  return event;
}

// Refusals that the host means: the controller is left out. Others are errors.
bool is_refusal(int code) {
  return code == EACCES || code == EPERM || code == EROFS || code == ENOENT;
}

// The parents `wardcase/` stay: they are shared by all runs.
sys::Status make_leaf(const std::string& mount_point, const std::string& path) {
  if (::mkdir(path.c_str(), 0755) == 0) return {};
  if (errno == ENOENT) {
    const std::string parent = mount_point + "/wardcase";
    if ((::mkdir(parent.c_str(), 0755) == 0 || errno == EEXIST) &&
        ::mkdir(path.c_str(), 0755) == 0) {
      return {};
    }
  }
  return tl::unexpected(sys::errno_error("make control group '" + path + "'"));
}

class CgroupV1 final : public LimitHolder {
 public:
  CgroupV1() : LimitHolder(Enforcement::cgroup1) {}
  CgroupV1(const CgroupV1&) = delete;
  CgroupV1& operator=(const CgroupV1&) = delete;
  ~CgroupV1() override;

  sys::Status make_leaves(std::span<const Hierarchy> hierarchies, const std::string& leaf,
                          const CgroupLimits& limits, std::string* why);
  sys::Status write_limits(const CgroupLimits& limits);
  sys::Status open_tasks();
  void listen_for_oom_events();
  [[nodiscard]] bool is_empty() const { return leaves_.empty(); }

  [[nodiscard]] int clone_into_fd() const override { return unified_; }
  [[nodiscard]] std::span<const int> tasks_fds() const override { return tasks_; }
  void close_tasks() override;

  [[nodiscard]] bool can_kill() const override { return unified_ >= 0 || freezer_ >= 0; }

  [[nodiscard]] int oom_fd() const override { return own_oom_.get(); }
  [[nodiscard]] std::uint32_t oom_epoll_events() const override { return EPOLLIN; }
  [[nodiscard]] OomEvent read_oom_event() override;

  [[nodiscard]] sys::Status kill() override;
  bool set_frozen(bool frozen) override;
  [[nodiscard]] CgroupUsage read_usage() const override;
  [[nodiscard]] sys::Status remove() override;

 private:
  struct Leaf {
    std::string mount_point;
    std::string path;
    sys::UniqueFd directory;
    sys::UniqueFd tasks;
  };

  sys::Result<int> make_leaf_in(const Hierarchy& hierarchy, const std::string& leaf);
  sys::Status write_memory_limit(std::uint64_t bytes) const;
  void await_frozen() const;
  [[nodiscard]] int killing_leaf() const;
  void forget_last_leaf();

  std::vector<Leaf> leaves_;  // in the order made; co-mounted controllers share one
  // The leaf of each controller, borrowed from leaves_; -1 without one.
  int unified_ = -1;
  int memory_ = -1;
  int pids_ = -1;
  int cpu_ = -1;
  int cpuacct_ = -1;
  int freezer_ = -1;
  std::vector<int> tasks_;
  sys::UniqueFd own_oom_;
  sys::UniqueFd ancestors_oom_;
  std::int64_t own_oom_events_ = 0;  // heard by the leaf less those heard by its parent
};

CgroupV1::~CgroupV1() {
  if (leaves_.empty() || remove()) return;
  // Best effort, one round: what is still dying is left to the next sweep.
  (void)kill_inside(killing_leaf());
  (void)remove();
}

sys::Result<int> CgroupV1::make_leaf_in(const Hierarchy& hierarchy, const std::string& leaf) {
  for (const Leaf& made : leaves_) {
    if (made.mount_point == hierarchy.mount_point) return made.directory.get();
  }
  std::string path = hierarchy.mount_point + "/wardcase/" + leaf;
  if (auto made = make_leaf(hierarchy.mount_point, path); !made) {
    return tl::unexpected(std::move(made).error());
  }
  leaves_.push_back({hierarchy.mount_point, path, {}, {}});  // now remove() knows of it
  auto directory = sys::open_at(AT_FDCWD, path.c_str(), O_PATH | O_DIRECTORY);
  if (!directory) {
    // Whoever goes on without this controller has no leaf of it either.
    if (::rmdir(path.c_str()) == 0) leaves_.pop_back();
    return tl::unexpected(std::move(directory).error());
  }
  leaves_.back().directory = std::move(*directory);
  return leaves_.back().directory.get();
}

// Makes only what is needed, as each leaf costs time. Where there is a v2 leaf it
// kills, freezes and counts cpu time; v1 groups do so only without one.
sys::Status CgroupV1::make_leaves(std::span<const Hierarchy> hierarchies, const std::string& leaf,
                                  const CgroupLimits& limits, std::string* why) {
  const struct {
    const char* controller;
    int* directory;
    bool only_with_cpu_limit;
    bool only_without_unified;
  } wanted[] = {
      {"", &unified_, false, false},       {"memory", &memory_, false, false},
      {"pids", &pids_, false, false},      {"cpu", &cpu_, true, false},
      {"cpuacct", &cpuacct_, false, true}, {"freezer", &freezer_, false, true},
  };
  for (const auto& want : wanted) {
    if (want.only_with_cpu_limit && !limits.millicpus) continue;
    if (want.only_without_unified && unified_ >= 0) continue;
    const auto hierarchy =
        std::find_if(hierarchies.begin(), hierarchies.end(),
                     [&](const Hierarchy& one) { return one.controller == want.controller; });
    std::string reason = "not mounted";
    if (hierarchy != hierarchies.end()) {
      auto made = make_leaf_in(*hierarchy, leaf);
      if (made) {
        *want.directory = *made;
        continue;
      }
      if (!is_refusal(made.error().code)) return tl::unexpected(std::move(made).error());
      reason = made.error().message();
    }
    if (!why->empty()) *why += "; ";
    *why += (want.directory == &unified_ ? "cgroup2" : want.controller) + (": " + reason);
  }
  return {};
}

sys::Status CgroupV1::write_memory_limit(std::uint64_t bytes) const {
  auto written = write_number(memory_, "memory.limit_in_bytes", bytes);
  if (!written) return written;
  written = write_number(memory_, "memory.memsw.limit_in_bytes", bytes);
  if (!written && written.error().code == ENOENT) {  // swap is not accounted: don't use it
    written = write_number(memory_, "memory.swappiness", 0);
    if (!written && written.error().code == ENOENT) written = {};  // a kernel without swap
  }
  if (!written) return written;
  // What TCP and UDP hold is counted apart, without a limit unless one is set; and
  // beyond some gigabytes of it the whole host's TCP stops.
  written = write_number(memory_, "memory.kmem.tcp.limit_in_bytes", bytes / kNetworkShare);
  if (!written && written.error().code == ENOENT) return {};  // a kernel without that count
  return written;
}

sys::Status CgroupV1::write_limits(const CgroupLimits& limits) {
  if (memory_ >= 0 && limits.memory_bytes) {
    if (auto written = write_memory_limit(*limits.memory_bytes); !written) return written;
    limits_.memory_bytes = limits.memory_bytes;
  }
  if (pids_ >= 0 && limits.pids) {
    if (auto written = write_number(pids_, "pids.max", *limits.pids + 1); !written) return written;
    limits_.pids = limits.pids;
  }
  if (cpu_ >= 0 && limits.millicpus) {
    auto written = write_number(cpu_, "cpu.cfs_period_us", kCpuPeriodMicroseconds);
    if (!written) return written;
    written =
        write_number(cpu_, "cpu.cfs_quota_us", *limits.millicpus * kCpuPeriodMicroseconds / 1000);
    if (!written) return written;
    limits_.millicpus = limits.millicpus;
  }
  return {};
}

sys::Status CgroupV1::open_tasks() {
  for (Leaf& leaf : leaves_) {
    if (leaf.directory.get() == unified_) continue;  // entered by clone3()
    auto tasks = sys::open_at(leaf.directory.get(), "tasks", O_WRONLY);
    if (!tasks) return tl::unexpected(std::move(tasks).error());
    leaf.tasks = std::move(*tasks);
    tasks_.push_back(leaf.tasks.get());
  }
  return {};
}

void CgroupV1::close_tasks() {
  for (Leaf& leaf : leaves_) leaf.tasks.reset();
  tasks_.clear();
}

// Without the events (real-time kernels have none) the limit holds all the same.
void CgroupV1::listen_for_oom_events() {
  if (!limits_.memory_bytes) return;
  auto own = listen_for_oom(memory_, "memory.oom_control", "cgroup.event_control");
  if (!own) return;
  auto ancestors = listen_for_oom(memory_, "../memory.oom_control", "../cgroup.event_control");
  if (!ancestors) return;
  own_oom_ = std::move(*own);
  ancestors_oom_ = std::move(*ancestors);
  // A group that is out of memory at this moment says so to each new listener.
  (void)read_events(ancestors_oom_);
  (void)read_events(own_oom_);
}

OomEvent CgroupV1::read_oom_event() {
  const std::uint64_t heard = read_events(own_oom_);
  if (heard == 0) return OomEvent::nothing;
  own_oom_events_ += static_cast<std::int64_t>(heard);
  own_oom_events_ -= static_cast<std::int64_t>(read_events(ancestors_oom_));
  if (own_oom_events_ <= 0) return OomEvent::host;
  own_oom_events_ = 0;
  return OomEvent::box;
}

int CgroupV1::killing_leaf() const {
  if (unified_ >= 0) return unified_;
  return freezer_ >= 0 ? freezer_ : leaves_.front().directory.get();
}

sys::Status CgroupV1::kill() {
  if (leaves_.empty()) return {};
  if (unified_ >= 0) return sys::write_file(unified_, "cgroup.kill", "1");
  // Frozen, nothing can fork away from the kill; each round thaws, to let die.
  constexpr int kRounds = 100;
  for (int round = 0; round < kRounds; ++round) {
    if (set_frozen(true)) await_frozen();
    if (kill_inside(killing_leaf()) == 0) return {};
    pause_a_millisecond();
  }
  return tl::unexpected(
      sys::Error{EBUSY, "kill what is in control group '" + leaves_.back().path + "'"});
}

bool CgroupV1::set_frozen(bool frozen) {
  if (unified_ >= 0) {
    return sys::write_file(unified_, "cgroup.freeze", frozen ? "1" : "0").has_value();
  }
  if (freezer_ < 0) return false;
  return sys::write_file(freezer_, "freezer.state", frozen ? "FROZEN" : "THAWED").has_value();
}

// Reading the state is what moves FREEZING on to FROZEN. A process in D state
// never gets there: go on without it.
void CgroupV1::await_frozen() const {
  constexpr int kLooks = 10;
  for (int look = 0; look < kLooks; ++look) {
    const auto state = sys::read_file(freezer_, "freezer.state");
    if (!state || state->starts_with("FROZEN")) return;
    pause_a_millisecond();
  }
}

CgroupUsage CgroupV1::read_usage() const {
  CgroupUsage usage;
  if (memory_ >= 0) {
    usage.memory_peak_bytes = read_number(memory_, "memory.max_usage_in_bytes");
    usage.oom_kills = read_keyed(memory_, "memory.oom_control", "oom_kill");
  }
  if (unified_ >= 0) {
    usage.cpu = read_cpu_time(unified_);
  } else if (cpuacct_ >= 0) {
    if (const auto spent = read_number(cpuacct_, "cpuacct.usage")) {
      usage.cpu = std::chrono::microseconds(*spent / 1000);
    }
  }
  if (pids_ >= 0) read_pids_usage(pids_, usage);
  return usage;
}

sys::Status CgroupV1::remove() {
  close_tasks();
  while (!leaves_.empty()) {
    const std::string& path = leaves_.back().path;
    if (::rmdir(path.c_str()) < 0 && errno != ENOENT) {
      return tl::unexpected(sys::errno_error("remove control group '" + path + "'"));
    }
    forget_last_leaf();
  }
  return {};
}

// The controllers' borrowed descriptors end with the leaf that lent them.
void CgroupV1::forget_last_leaf() {
  const int closing = leaves_.back().directory.get();
  for (int* directory : {&unified_, &memory_, &pids_, &cpu_, &cpuacct_, &freezer_}) {
    if (*directory == closing) *directory = -1;
  }
  leaves_.pop_back();
}

}  // namespace

sys::Result<std::unique_ptr<Cgroup>> create_cgroup_v1(std::span<const Hierarchy> hierarchies,
                                                      const std::string& leaf,
                                                      const CgroupLimits& limits,
                                                      std::string* why) {
  auto cgroup = std::make_unique<CgroupV1>();
  const auto failed = [&leaf](sys::Status& status) {
    return tl::unexpected(
        std::move(status).error().while_doing("set up control group '" + leaf + "'"));
  };
  why->clear();
  if (auto made = cgroup->make_leaves(hierarchies, leaf, limits, why); !made) return failed(made);
  if (cgroup->is_empty()) return nullptr;
  if (auto written = cgroup->write_limits(limits); !written) return failed(written);
  cgroup->listen_for_oom_events();
  if (auto opened = cgroup->open_tasks(); !opened) return failed(opened);
  return cgroup;
}

}  // namespace wardcase::sandbox
