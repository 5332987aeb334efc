// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <thread>

#include "sandbox/cgroup.h"
#include "tests/unit/sandbox/real_cgroup.h"
#include "tests/unit/sandbox/temporary_directory.h"

namespace wardcase::sandbox {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::Layout;
using test::read_group_file;
using test::TemporaryDirectory;
using test::wait_for_ever;

using RealCgroupV1 = test::RealCgroup;

constexpr std::uint64_t kMebibyte = 1U << 20;

void use_memory(std::uint64_t bytes) {
  void* block = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block != MAP_FAILED) std::memset(block, 1, bytes);
}

bool is_readable(int fd, std::chrono::milliseconds timeout) {
  pollfd event = {fd, POLLIN, 0};
  return ::poll(&event, 1, static_cast<int>(timeout.count())) == 1;
}

TEST_P(RealCgroupV1, WritesTheLimitsBeforeAnybodyEnters) {
  const auto cgroup = create({.memory_bytes = 64 * kMebibyte, .pids = 7, .millicpus = 1500});
  ASSERT_NE(cgroup, nullptr);
  EXPECT_EQ(read_group_file(leaf_file("memory", "memory.limit_in_bytes")), "67108864\n");
  EXPECT_EQ(read_group_file(leaf_file("memory", "memory.kmem.tcp.limit_in_bytes")), "16777216\n");
  EXPECT_EQ(read_group_file(leaf_file("pids", "pids.max")), "8\n");  // init is inside
  EXPECT_EQ(read_group_file(leaf_file("cpu", "cpu.cfs_quota_us")), "150000\n");
  EXPECT_EQ(cgroup->memory(), Enforcement::cgroup1);
  EXPECT_EQ(cgroup->pids(), Enforcement::cgroup1);
  EXPECT_EQ(cgroup->cpus(), Enforcement::cgroup1);
  EXPECT_TRUE(cgroup->can_kill());
  remove(*cgroup);
  EXPECT_FALSE(fs::exists(own_.at("memory") + "/wardcase/lock.1"));
}

TEST_P(RealCgroupV1, MakesNoMoreLeavesThanNeeded) {
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

TEST_P(RealCgroupV1, NamesTheFileOfALimitThatTheKernelRefuses) {
  std::string why;
  const auto cgroup = host_.create("lock.1", {.millicpus = 1}, &why);
  ASSERT_FALSE(cgroup);
  EXPECT_NE(cgroup.error().what.find("cpu.cfs_quota_us"), std::string::npos);
  EXPECT_FALSE(fs::exists(own_.at("memory") + "/wardcase/lock.1"));
}

TEST_P(RealCgroupV1, TellsTheBoxsOwnOutOfMemory) {
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
TEST_P(RealCgroupV1, TellsAnAncestorsOutOfMemoryFromTheBoxs) {
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

TEST_P(RealCgroupV1, DoesNotHearItsNeighbours) {
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

TEST_P(RealCgroupV1, CountsProcessesAndTellsWhenTheirLimitWasHit) {
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
  EXPECT_EQ(count_inside(), 3);
  const CgroupUsage usage = cgroup->read_usage();
  EXPECT_TRUE(usage.pids_limit_hit);
  EXPECT_EQ(usage.processes_peak.value_or(3), 3U);  // old kernels don't count
  ASSERT_TRUE(cgroup->kill());
  remove(*cgroup);
}

INSTANTIATE_TEST_SUITE_P(Layouts, RealCgroupV1, testing::Values(Layout::v1, Layout::hybrid),
                         [](const auto& layout) {
                           return layout.param == Layout::v1 ? "v1" : "hybrid";
                         });

}  // namespace
}  // namespace wardcase::sandbox
