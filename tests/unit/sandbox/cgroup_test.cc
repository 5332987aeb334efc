// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/cgroup.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "sandbox/state_lock.h"
#include "sandbox/sys/unique_fd.h"
#include "tests/unit/sandbox/temporary_directory.h"

namespace wardcase::sandbox {
namespace {

namespace fs = std::filesystem;
using test::TemporaryDirectory;

constexpr std::uint64_t kMebibyte = 1U << 20;

TEST(CgroupDiscovery, PutsUnifiedFirstAndKnowsCoMountedControllers) {
  const auto host = CgroupHost::discover(
      "22 1 0:20 / /proc rw,nosuid - proc proc rw\n"
      "31 30 0:28 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
      "34 30 0:31 /docker/1 /sys/fs/cgroup/my\\040memory rw master:3 shared:2 - cgroup cgroup "
      "rw,memory\n"
      "39 30 0:36 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n"
      "40 30 0:37 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw,nsdelegate\n");
  const auto found = host.hierarchies();
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].controller, "");
  EXPECT_EQ(found[0].mount_point, "/sys/fs/cgroup/unified");
  EXPECT_EQ(found[1].controller, "memory");
  EXPECT_EQ(found[1].mount_point, "/sys/fs/cgroup/my memory");
  EXPECT_EQ(found[2].controller, "cpu");
  EXPECT_EQ(found[3].controller, "cpuacct");
  EXPECT_EQ(found[2].mount_point, found[3].mount_point);
}

TEST(CgroupDiscovery, OffersNothingWhereNothingIs) {
  for (const char* text : {"", "\n", "nonsense", "1 2 3 - cgroup", " - cgroup2 \n"}) {
    std::string why;
    const auto cgroup = CgroupHost::discover(text).create("leaf", {}, &why);
    ASSERT_TRUE(cgroup) << text;
    EXPECT_EQ(*cgroup, nullptr) << text;
    EXPECT_NE(why, "") << text;
  }
}

CgroupHost host_with(const std::string& controllers, const std::string& mount_point) {
  return CgroupHost::discover("1 1 0:1 / " + mount_point + " rw - cgroup cgroup rw," + controllers +
                              "\n");
}

TEST(CgroupCreation, LeavesOutWhatIsMissingAndSaysWhy) {
  std::string why;
  const auto cgroup = host_with("memory", "/no/such/place").create("lock.1", {}, &why);
  ASSERT_TRUE(cgroup) << cgroup.error().message();
  EXPECT_EQ(*cgroup, nullptr);
  EXPECT_NE(why.find("memory: make control group '/no/such/place/wardcase/lock.1'"),
            std::string::npos)
      << why;
  EXPECT_NE(why.find("pids: not mounted"), std::string::npos) << why;
}

TEST(CgroupCreation, FailsOnALimitThatCannotBeWrittenAndTakesTheLeafBack) {
  const TemporaryDirectory plain;  // no kernel makes the files of a leaf here
  std::string why;
  const auto cgroup =
      host_with("memory", plain.path()).create("lock.1", {.memory_bytes = kMebibyte}, &why);
  ASSERT_FALSE(cgroup);
  EXPECT_NE(cgroup.error().what.find("memory.limit_in_bytes"), std::string::npos);
  EXPECT_TRUE(fs::is_empty(plain.path() + "/wardcase"));
}

TEST(CgroupSweep, RemovesTheLeavesOfTheDeadAndKeepsThoseOfTheLiving) {
  const TemporaryDirectory first;
  const TemporaryDirectory second;
  const TemporaryDirectory locks;
  for (const char* leaf : {"dead.1", "dead.2", "gone.1", "young.1", "live.1", "live"}) {
    fs::create_directories(first.path() + "/wardcase/" + leaf);
    fs::create_directories(second.path() + "/wardcase/" + leaf);
  }
  // Nobody's lock is in sight for these two: the young one may be another container's, in
  // which nothing runs yet.
  fs::last_write_time(first.path() + "/wardcase/gone.1",
                      fs::file_time_type::clock::now() - std::chrono::minutes(11));
  { const sys::UniqueFd dead(::open((locks.path() + "/dead").c_str(), O_CREAT | O_WRONLY, 0600)); }
  const auto live = StateLock::acquire(locks.path(), "live");
  ASSERT_TRUE(live) << live.error().message();

  const auto host =
      CgroupHost::discover("1 1 0:1 / " + first.path() + " rw - cgroup cgroup rw,memory\n" +
                           "2 1 0:2 / " + second.path() + " rw - cgroup cgroup rw,pids\n");
  EXPECT_EQ(host.sweep(locks.path()), 3);
  for (const auto& mount_point : {first.path(), second.path()}) {
    EXPECT_FALSE(fs::exists(mount_point + "/wardcase/dead.1"));
    EXPECT_FALSE(fs::exists(mount_point + "/wardcase/gone.1"));
    EXPECT_TRUE(fs::exists(mount_point + "/wardcase/young.1"));
    EXPECT_TRUE(fs::exists(mount_point + "/wardcase/live.1"));
    EXPECT_TRUE(fs::exists(mount_point + "/wardcase/live"));
  }
  EXPECT_FALSE(fs::exists(locks.path() + "/dead"));
  EXPECT_TRUE(fs::exists(locks.path() + "/live"));
  EXPECT_EQ(host.sweep(locks.path()), 0);
}

// A process that can't be killed yet holds its group: the lock that says so stays with it.
TEST(CgroupSweep, LeavesWhatCannotBeRemovedToALaterOne) {
  const TemporaryDirectory mount_point;
  const TemporaryDirectory locks;
  const std::string leaf = mount_point.path() + "/wardcase/dead.1";
  fs::create_directories(leaf + "/occupied");
  { const sys::UniqueFd dead(::open((locks.path() + "/dead").c_str(), O_CREAT | O_WRONLY, 0600)); }
  const auto host =
      CgroupHost::discover("1 1 0:1 / " + mount_point.path() + " rw - cgroup cgroup rw,memory\n");
  std::set<std::string> unfinished;
  EXPECT_EQ(host.sweep(locks.path(), &unfinished), 0);
  EXPECT_EQ(unfinished, std::set<std::string>{"dead"});
  sweep_locks(locks.path(), unfinished);
  EXPECT_TRUE(fs::exists(locks.path() + "/dead"));
  fs::remove(leaf + "/occupied");
  EXPECT_EQ(host.sweep(locks.path()), 1);
  EXPECT_FALSE(fs::exists(locks.path() + "/dead"));
}

}  // namespace
}  // namespace wardcase::sandbox
