// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// The real groups are made below directories of their own, one in each
// hierarchy, given to CgroupHost as if they were mount points: what the tests
// do can't reach the groups of real runs, and nothing is left behind.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <thread>

#include "sandbox/cgroup.h"
#include "sandbox/state_lock.h"
#include "sandbox/sys/files.h"
#include "tests/unit/sandbox/temporary_directory.h"

namespace wardcase::sandbox {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::TemporaryDirectory;

constexpr std::uint64_t kMebibyte = 1U << 20;

std::string read(const std::string& path) {
  return sys::read_file(AT_FDCWD, path.c_str()).value_or("missing");
}

enum class Layout : std::uint8_t { v1, hybrid };

class RealCgroup : public testing::TestWithParam<Layout> {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    const auto real = CgroupHost::discover(read("/proc/self/mountinfo"));
    std::string mountinfo;
    for (const auto& hierarchy : real.hierarchies()) {
      const bool unified = hierarchy.controller.empty();
      if (unified && GetParam() == Layout::v1) continue;
      const std::string own =
          hierarchy.mount_point + "/wardcase-unit-" + std::to_string(::getpid());
      if (::mkdir(own.c_str(), 0755) < 0 && errno != EEXIST) continue;
      own_[hierarchy.controller] = own;
      mountinfo += "1 1 0:1 / " + own + " rw - ";
      mountinfo += unified ? "cgroup2 x rw\n" : "cgroup x rw," + hierarchy.controller + "\n";
    }
    for (const char* needed : {"memory", "pids", "cpu", "cpuacct", "freezer"}) {
      if (own_.count(needed) == 0) GTEST_SKIP() << "no v1 controller " << needed;
    }
    if (GetParam() == Layout::hybrid && own_.count("") == 0) GTEST_SKIP() << "no v2 tree";
    host_ = CgroupHost::discover(mountinfo);
  }

  void TearDown() override {
    for (const pid_t pid : children_) {
      (void)::kill(pid, SIGKILL);
      (void)::waitpid(pid, nullptr, 0);
    }
    for (const auto& [controller, own] : own_) {
      (void)::rmdir((own + "/wardcase").c_str());
      (void)::rmdir(own.c_str());
      EXPECT_FALSE(fs::exists(own)) << own;
    }
  }

  std::unique_ptr<Cgroup> create(const CgroupLimits& limits, const std::string& leaf = "lock.1") {
    std::string why;
    auto cgroup = host_.create(leaf, limits, &why);
    EXPECT_TRUE(cgroup) << cgroup.error().message();
    return cgroup ? std::move(*cgroup) : nullptr;
  }

  // Runs `body` in a child that was born in the v2 leaf and entered the others by itself.
  pid_t start(const Cgroup& cgroup, const std::function<void()>& body) {
    clone_args args = {};
    args.exit_signal = SIGCHLD;
    if (cgroup.clone_into_fd() >= 0) {
      args.flags = CLONE_INTO_CGROUP;
      args.cgroup = static_cast<decltype(args.cgroup)>(cgroup.clone_into_fd());
    }
    const auto pid = static_cast<pid_t>(::syscall(SYS_clone3, &args, sizeof args));
    if (pid == 0) {
      for (const int tasks : cgroup.tasks_fds()) {
        if (::write(tasks, "0", 1) != 1) ::_exit(99);
      }
      body();
      ::_exit(0);
    }
    EXPECT_GT(pid, 0);
    children_.push_back(pid);
    return pid;
  }

  int wait_for(pid_t pid) {
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    children_.erase(std::find(children_.begin(), children_.end(), pid));
    return status;
  }

  static void remove(Cgroup& cgroup) {
    for (int tries = 0; tries < 1000; ++tries) {
      const auto removed = cgroup.remove();
      if (removed) return;
      ASSERT_EQ(removed.error().code, EBUSY) << removed.error().message();
      std::this_thread::sleep_for(1ms);
    }
    FAIL() << "the leaf stays busy";
  }

  [[nodiscard]] std::string leaf_file(const std::string& controller, const char* file) const {
    return own_.at(controller) + "/wardcase/lock.1/" + file;
  }

  std::map<std::string, std::string> own_;  // our directory in each hierarchy
  CgroupHost host_;
  std::vector<pid_t> children_;
};

void use_memory(std::uint64_t bytes) {
  void* block = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block != MAP_FAILED) std::memset(block, 1, bytes);
}

[[noreturn]] void wait_for_ever() {
  while (true) ::pause();
}

bool is_readable(int fd, std::chrono::milliseconds timeout) {
  pollfd event = {fd, POLLIN, 0};
  return ::poll(&event, 1, static_cast<int>(timeout.count())) == 1;
}

TEST_P(RealCgroup, WritesTheLimitsBeforeAnybodyEnters) {
  const auto cgroup = create({.memory_bytes = 64 * kMebibyte, .pids = 7, .millicpus = 1500});
  ASSERT_NE(cgroup, nullptr);
  EXPECT_EQ(read(leaf_file("memory", "memory.limit_in_bytes")), "67108864\n");
  EXPECT_EQ(read(leaf_file("pids", "pids.max")), "8\n");  // init is inside
  EXPECT_EQ(read(leaf_file("cpu", "cpu.cfs_quota_us")), "150000\n");
  EXPECT_EQ(cgroup->memory(), Enforcement::cgroup1);
  EXPECT_EQ(cgroup->pids(), Enforcement::cgroup1);
  EXPECT_EQ(cgroup->cpus(), Enforcement::cgroup1);
  EXPECT_TRUE(cgroup->can_kill());
  remove(*cgroup);
  EXPECT_FALSE(fs::exists(own_.at("memory") + "/wardcase/lock.1"));
}

TEST_P(RealCgroup, MakesNoMoreLeavesThanNeeded) {
  const auto cgroup = create({});
  ASSERT_NE(cgroup, nullptr);
  EXPECT_EQ(cgroup->memory(), Enforcement::none);
  EXPECT_EQ(cgroup->cpus(), Enforcement::none);
  const bool hybrid = GetParam() == Layout::hybrid;
  EXPECT_EQ(cgroup->tasks_fds().size(), hybrid ? 2U : 4U);
  EXPECT_EQ(cgroup->clone_into_fd() >= 0, hybrid);
  EXPECT_FALSE(fs::exists(own_.at("cpu") + "/wardcase"));
  cgroup->close_tasks();
  EXPECT_TRUE(cgroup->tasks_fds().empty());
  remove(*cgroup);
}

TEST_P(RealCgroup, NamesTheFileOfALimitThatTheKernelRefuses) {
  std::string why;
  const auto cgroup = host_.create("lock.1", {.millicpus = 1}, &why);
  ASSERT_FALSE(cgroup);
  EXPECT_NE(cgroup.error().what.find("cpu.cfs_quota_us"), std::string::npos);
  EXPECT_FALSE(fs::exists(own_.at("memory") + "/wardcase/lock.1"));
}

TEST_P(RealCgroup, TellsTheBoxsOwnOutOfMemory) {
  for (int round = 0; round < 4; ++round) {
    const auto cgroup = create({.memory_bytes = 48 * kMebibyte});
    ASSERT_NE(cgroup, nullptr);
    EXPECT_EQ(cgroup->oom_epoll_events(), static_cast<std::uint32_t>(EPOLLIN));
    EXPECT_EQ(cgroup->read_oom_event(), OomEvent::nothing);
    const pid_t hog = start(*cgroup, [] { use_memory(200 * kMebibyte); });
    ASSERT_TRUE(is_readable(cgroup->oom_fd(), 10s));
    if (round % 2 == 1) (void)wait_for(hog);  // however late we look
    EXPECT_EQ(cgroup->read_oom_event(), OomEvent::box);
    if (round % 2 == 0) (void)wait_for(hog);
    EXPECT_EQ(cgroup->read_oom_event(), OomEvent::nothing);
    const CgroupUsage usage = cgroup->read_usage();
    EXPECT_EQ(usage.oom_kills, 1U);
    EXPECT_LE(usage.memory_peak_bytes.value_or(0), 48 * kMebibyte);
    EXPECT_GT(usage.memory_peak_bytes.value_or(0), 47 * kMebibyte);
    remove(*cgroup);
  }
}

// Page cache has brought the leaf to its limit before, so that its peak looks as
// if it had run out of memory.
TEST_P(RealCgroup, TellsAnAncestorsOutOfMemoryFromTheBoxs) {
  const std::string parent_limit = own_.at("memory") + "/memory.limit_in_bytes";
  const auto cgroup = create({.memory_bytes = 64 * kMebibyte});
  ASSERT_NE(cgroup, nullptr);
  const TemporaryDirectory scratch;
  const pid_t reader = start(*cgroup, [&] {
    const std::string file = scratch.path() + "/cached";
    const sys::UniqueFd fd(::open(file.c_str(), O_CREAT | O_RDWR, 0600));
    const std::vector<char> block(kMebibyte, 'x');
    for (int i = 0; i < 150; ++i) {
      if (::write(fd.get(), block.data(), block.size()) < 0) ::_exit(1);
      (void)::fsync(fd.get());
    }
  });
  EXPECT_EQ(wait_for(reader), 0);
  EXPECT_GT(cgroup->read_usage().memory_peak_bytes.value_or(0), 62 * kMebibyte);
  EXPECT_EQ(cgroup->read_oom_event(), OomEvent::nothing);

  ASSERT_TRUE(sys::write_file(AT_FDCWD, parent_limit.c_str(), std::to_string(32 * kMebibyte)));
  const pid_t hog = start(*cgroup, [] { use_memory(200 * kMebibyte); });
  ASSERT_TRUE(is_readable(cgroup->oom_fd(), 10s));
  EXPECT_EQ(cgroup->read_oom_event(), OomEvent::host);
  EXPECT_EQ(wait_for(hog), SIGKILL);

  // The limit of its own is told apart after that as before.
  ASSERT_TRUE(sys::write_file(AT_FDCWD, parent_limit.c_str(), "-1"));
  (void)wait_for(start(*cgroup, [] { use_memory(200 * kMebibyte); }));
  EXPECT_EQ(cgroup->read_oom_event(), OomEvent::box);
  remove(*cgroup);
}

TEST_P(RealCgroup, DoesNotHearItsNeighbours) {
  const auto cgroup = create({.memory_bytes = 64 * kMebibyte});
  const auto neighbour = create({.memory_bytes = 16 * kMebibyte}, "lock.2");
  ASSERT_TRUE(cgroup != nullptr && neighbour != nullptr);
  (void)wait_for(start(*neighbour, [] { use_memory(100 * kMebibyte); }));
  EXPECT_EQ(neighbour->read_oom_event(), OomEvent::box);
  EXPECT_EQ(cgroup->read_oom_event(), OomEvent::nothing);
  remove(*neighbour);
  EXPECT_EQ(cgroup->read_oom_event(), OomEvent::nothing);
  remove(*cgroup);
}

TEST_P(RealCgroup, CountsProcessesAndTellsWhenTheirLimitWasHit) {
  const auto cgroup = create({.pids = 3});
  ASSERT_NE(cgroup, nullptr);
  const pid_t init = start(*cgroup, [] {
    int started = 0;
    for (int i = 0; i < 5; ++i) {
      const pid_t pid = ::fork();
      if (pid == 0) wait_for_ever();
      started += pid > 0 ? 1 : 0;
    }
    ::_exit(started);
  });
  EXPECT_EQ(wait_for(init), 3 << 8);  // the exit code
  EXPECT_EQ(cgroup->count_processes(), 3U);
  const CgroupUsage usage = cgroup->read_usage();
  EXPECT_TRUE(usage.pids_limit_hit);
  EXPECT_EQ(usage.processes_peak.value_or(3), 3U);  // old kernels don't count
  ASSERT_TRUE(cgroup->kill());
  remove(*cgroup);
}

TEST_P(RealCgroup, KillsAllOfItFrozenOrNot) {
  for (const bool frozen : {false, true}) {
    const auto cgroup = create({});
    ASSERT_NE(cgroup, nullptr);
    const pid_t init = start(*cgroup, [] {
      for (int i = 0; i < 20; ++i) {
        if (::fork() != 0) continue;
        (void)::setsid();
        wait_for_ever();
      }
      wait_for_ever();
    });
    while (cgroup->count_processes() != 21U) std::this_thread::sleep_for(1ms);
    if (frozen) {
      EXPECT_TRUE(cgroup->set_frozen(true));
    }
    const auto killed = cgroup->kill();
    EXPECT_TRUE(killed) << killed.error().message();
    EXPECT_EQ(wait_for(init), SIGKILL);
    remove(*cgroup);
  }
}

TEST_P(RealCgroup, CountsCpuTimeAndStopsItWhenFrozen) {
  const auto cgroup = create({});
  ASSERT_NE(cgroup, nullptr);
  (void)start(*cgroup, [] {
    for (volatile bool spin = true; spin;) {
    }
  });
  std::this_thread::sleep_for(100ms);
  EXPECT_TRUE(cgroup->set_frozen(true));
  std::this_thread::sleep_for(50ms);
  const auto frozen_at = cgroup->read_usage().cpu;
  ASSERT_TRUE(frozen_at.has_value());
  EXPECT_GT(*frozen_at, 5ms);
  std::this_thread::sleep_for(50ms);
  EXPECT_LE(*cgroup->read_usage().cpu, *frozen_at + 2ms);
  EXPECT_TRUE(cgroup->set_frozen(false));
  std::this_thread::sleep_for(50ms);
  EXPECT_GT(*cgroup->read_usage().cpu, *frozen_at);
  EXPECT_TRUE(cgroup->kill());
  remove(*cgroup);
}

TEST_P(RealCgroup, SweepsABoxThatOutlivedItsSupervisor) {
  const TemporaryDirectory locks;
  const auto cgroup = create({.pids = 10});
  ASSERT_NE(cgroup, nullptr);
  const pid_t left = start(*cgroup, wait_for_ever);
  EXPECT_TRUE(cgroup->set_frozen(true));
  {
    const auto live = StateLock::acquire(locks.path(), "lock");
    ASSERT_TRUE(live) << live.error().message();
    EXPECT_EQ(host_.sweep(locks.path()), 0);
  }
  EXPECT_EQ(host_.sweep(locks.path()), 1);
  EXPECT_EQ(wait_for(left), SIGKILL);
  for (const auto& [controller, own] : own_) {
    EXPECT_FALSE(fs::exists(own + "/wardcase/lock.1")) << controller;
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, RealCgroup, testing::Values(Layout::v1, Layout::hybrid),
                         [](const auto& layout) {
                           return layout.param == Layout::v1 ? "v1" : "hybrid";
                         });

}  // namespace
}  // namespace wardcase::sandbox
