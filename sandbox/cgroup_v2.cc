// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
//   GROUP/                    ours by delegation, or the real root
//     supervisor/             we ourselves, where GROUP may hold no processes
//     wardcase/               gives its controllers to the leaves
//       sup_XXXX.1/           one run
//
// Whose memory ran out. `oom` in memory.events rises in the group whose limit was
// reached; `oom_kill` in the group of the victim, whose limit ever it was. A leaf
// has no groups below it, so both are its own: kills after an `oom` of the leaf
// are the box's end, kills without one come from an ancestor or the host.
#include "sandbox/cgroup_v2.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "sandbox/cgroup_files.h"
#include "sandbox/sys/files.h"
#include "sandbox/sys/retry.h"

namespace wardcase::sandbox {
namespace {

constexpr std::uint64_t kCpuPeriodMicroseconds = 100'000;

class CgroupV2 final : public LimitHolder {
 public:
  explicit CgroupV2(std::string path) : LimitHolder(Enforcement::cgroup2), path_(std::move(path)) {}
  CgroupV2(const CgroupV2&) = delete;
  CgroupV2& operator=(const CgroupV2&) = delete;
  ~CgroupV2() override;

  sys::Status open();
  sys::Status write_limits(const Controllers& given, const CgroupLimits& limits);
  void listen_for_oom_events();
  [[nodiscard]] bool can_hold_processes() const;

  [[nodiscard]] int clone_into_fd() const override { return leaf_.get(); }
  [[nodiscard]] std::span<const int> tasks_fds() const override { return {}; }
  void close_tasks() override {}

  [[nodiscard]] bool can_kill() const override { return true; }

  [[nodiscard]] int oom_fd() const override { return memory_events_.get(); }
  [[nodiscard]] std::uint32_t oom_epoll_events() const override { return EPOLLPRI; }
  [[nodiscard]] OomEvent read_oom_event() override;

  [[nodiscard]] sys::Status kill() override;
  bool set_frozen(bool frozen) override;
  [[nodiscard]] CgroupUsage read_usage() const override;
  [[nodiscard]] sys::Status remove() override;

 private:
  struct OomCounts {
    std::uint64_t limit_reached = 0;
    std::uint64_t kills = 0;
  };

  sys::Status write_memory_limit(std::uint64_t bytes);
  [[nodiscard]] OomCounts read_oom_counts() const;

  std::string path_;  // empty once removed
  sys::UniqueFd leaf_;
  sys::UniqueFd memory_events_;
  OomCounts oom_counts_;  // those that were told
  bool oom_kills_all_ = false;
  bool was_box_out_of_memory_ = false;
};

CgroupV2::~CgroupV2() {
  if (remove()) return;
  // Best effort, one round: what is still dying is left to the next sweep.
  (void)kill_inside(leaf_.get());
  (void)remove();
}

sys::Status CgroupV2::open() {
  auto leaf = sys::open_at(AT_FDCWD, path_.c_str(), O_PATH | O_DIRECTORY);
  if (!leaf) return tl::unexpected(std::move(leaf).error());
  leaf_ = std::move(*leaf);
  return {};
}

// Below a threaded group every new one is "domain invalid": nothing can enter it.
bool CgroupV2::can_hold_processes() const {
  const auto type = sys::read_file(leaf_.get(), "cgroup.type");
  return !type || !type->starts_with("domain invalid");
}

sys::Status CgroupV2::write_memory_limit(std::uint64_t bytes) {
  auto written = write_number(leaf_.get(), "memory.max", bytes);
  if (!written) return written;
  if (oom_kills_all_) {
    written = write_number(leaf_.get(), "memory.oom.group", 1);
    if (!written) return written;
  }
  written = write_number(leaf_.get(), "memory.swap.max", 0);
  if (!written && written.error().code == ENOENT) return {};  // a kernel without swap
  return written;
}

sys::Status CgroupV2::write_limits(const Controllers& given, const CgroupLimits& limits) {
  oom_kills_all_ = limits.oom_kills_all;
  if (given[memory_controller] && limits.memory_bytes) {
    if (auto written = write_memory_limit(*limits.memory_bytes); !written) return written;
    limits_.memory_bytes = limits.memory_bytes;
  }
  if (given[pids_controller] && limits.pids) {
    auto written = write_number(leaf_.get(), "pids.max", *limits.pids + 1);
    if (!written) return written;
    limits_.pids = limits.pids;
  }
  if (given[cpu_controller] && limits.millicpus) {
    const std::uint64_t quota = *limits.millicpus * kCpuPeriodMicroseconds / 1000;
    auto written =
        sys::write_file(leaf_.get(), "cpu.max",
                        std::to_string(quota) + " " + std::to_string(kCpuPeriodMicroseconds));
    if (!written) return written;
    limits_.millicpus = limits.millicpus;
  }
  return {};
}

// Without the events the limit holds all the same.
void CgroupV2::listen_for_oom_events() {
  if (!limits_.memory_bytes) return;
  auto events = sys::open_at(leaf_.get(), "memory.events", O_RDONLY);
  if (!events) return;
  memory_events_ = std::move(*events);
  oom_counts_ = read_oom_counts();  // until it is read it is ready for EPOLLPRI
}

// Always through the same descriptor: reading is what makes it wait again.
CgroupV2::OomCounts CgroupV2::read_oom_counts() const {
  std::array<char, 1024> buffer;
  const ssize_t size = sys::retry_eintr(
      [&] { return ::pread(memory_events_.get(), buffer.data(), buffer.size(), 0); });
  if (size <= 0) return oom_counts_;
  const std::string_view text(buffer.data(), static_cast<std::size_t>(size));
  return {parse_keyed(text, "oom").value_or(0), parse_keyed(text, "oom_kill").value_or(0)};
}

OomEvent CgroupV2::read_oom_event() {
  const OomCounts now = read_oom_counts();
  // The limit may be reached a moment before the kill, which is told by an event of its own.
  if (now.kills == oom_counts_.kills) return OomEvent::nothing;
  const OomCounts before = std::exchange(oom_counts_, now);
  // A second one may be on its way, its kill yet to come.
  if (!oom_kills_all_) {
    oom_counts_.limit_reached =
        before.limit_reached +
        std::min(now.limit_reached - before.limit_reached, now.kills - before.kills);
  }
  if (now.limit_reached > before.limit_reached) {
    was_box_out_of_memory_ = oom_kills_all_;
    return OomEvent::box;
  }
  // A group's kills are counted one by one: what it ran out of was told already.
  return was_box_out_of_memory_ ? OomEvent::nothing : OomEvent::host;
}

sys::Status CgroupV2::kill() {
  if (path_.empty()) return {};
  return sys::write_file(leaf_.get(), "cgroup.kill", "1");
}

bool CgroupV2::set_frozen(bool frozen) {
  return sys::write_file(leaf_.get(), "cgroup.freeze", frozen ? "1" : "0").has_value();
}

// Which counters are there depends on the kernel (memory.peak: 5.19, pids.peak: 6.1)
// and on the controllers; cpu.stat is there without any.
CgroupUsage CgroupV2::read_usage() const {
  CgroupUsage usage;
  usage.memory_peak_bytes = read_number(leaf_.get(), "memory.peak");
  usage.oom_kills = read_keyed(leaf_.get(), "memory.events", "oom_kill");
  usage.cpu = read_cpu_time(leaf_.get());
  read_pids_usage(leaf_.get(), usage);
  return usage;
}

sys::Status CgroupV2::remove() {
  if (path_.empty()) return {};
  if (::rmdir(path_.c_str()) < 0 && errno != ENOENT) {
    return tl::unexpected(sys::errno_error("remove control group '" + path_ + "'"));
  }
  path_.clear();
  leaf_.reset();
  return {};
}

// A leaf that was made and is complete, or an error; nullptr where it can't be used.
sys::Result<std::unique_ptr<Cgroup>> finish_leaf(std::unique_ptr<CgroupV2> cgroup,
                                                 const Controllers& given,
                                                 const CgroupLimits& limits, std::string* why) {
  if (auto opened = cgroup->open(); !opened) return tl::unexpected(std::move(opened).error());
  if (!cgroup->can_hold_processes()) {
    add_reason(why, "cgroup2", "the group above is a threaded one, nothing can enter below it");
    return nullptr;
  }
  auto written = cgroup->write_limits(given, limits);
  if (!written) return tl::unexpected(std::move(written).error());
  cgroup->listen_for_oom_events();
  return cgroup;
}

}  // namespace

sys::Result<std::unique_ptr<Cgroup>> create_cgroup_v2(const std::string& group,
                                                      const std::string& leaf,
                                                      const CgroupLimits& limits,
                                                      const CgroupCalls& calls, std::string* why) {
  why->clear();
  const auto refused = [why](const sys::Error& error) {
    add_reason(why, "cgroup2", error.message());
    return nullptr;
  };
  const auto given = prepare_leaf_parent(group, calls, why);
  if (!given) return refused(given.error());
  const std::string path = group + "/wardcase/" + leaf;
  if (calls.make_directory(path.c_str(), 0755) < 0) {
    return refused(sys::errno_error("make control group '" + path + "'"));
  }
  auto finished = finish_leaf(std::make_unique<CgroupV2>(path), *given, limits, why);
  if (!finished) {
    return tl::unexpected(
        std::move(finished).error().while_doing("set up control group '" + leaf + "'"));
  }
  return finished;
}

}  // namespace wardcase::sandbox
