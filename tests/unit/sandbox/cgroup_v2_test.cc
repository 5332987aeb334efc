// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/cgroup_v2.h"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "sandbox/state_lock.h"
#include "tests/unit/sandbox/fake_v2_tree.h"

namespace wardcase::sandbox {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::FakeV2Tree;
using test::TemporaryDirectory;

constexpr const char* kAll = "memory pids cpu io";
constexpr CgroupLimits kLimits = {.memory_bytes = 64U << 20, .pids = 7, .millicpus = 1500};

class FakeCgroup : public testing::Test {
 protected:
  sys::Result<std::unique_ptr<Cgroup>> try_create(FakeV2Tree& tree, const CgroupLimits& limits) {
    return create_cgroup_v2(tree.root(), "lock.1", limits, tree.calls(), &why_);
  }
  std::unique_ptr<Cgroup> create(FakeV2Tree& tree, const CgroupLimits& limits = kLimits) {
    auto made = try_create(tree, limits);
    EXPECT_TRUE(made) << made.error().message();
    return made ? *std::move(made) : nullptr;
  }

  std::string why_;
};

TEST_F(FakeCgroup, HasItsLimitsBeforeAnybodyEnters) {
  FakeV2Tree tree(kAll);
  const auto cgroup = create(tree);
  ASSERT_NE(cgroup, nullptr);
  EXPECT_EQ(tree.read("/wardcase/lock.1/memory.max"), "67108864");
  EXPECT_EQ(tree.read("/wardcase/lock.1/memory.swap.max"), "0");
  EXPECT_EQ(tree.read("/wardcase/lock.1/memory.oom.group"), "1");
  EXPECT_EQ(tree.read("/wardcase/lock.1/pids.max"), "8");  // init is one more
  EXPECT_EQ(tree.read("/wardcase/lock.1/cpu.max"), "150000 100000");
  EXPECT_EQ(tree.read("/wardcase/lock.1/cgroup.procs"), "");
  EXPECT_EQ(cgroup->memory(), Enforcement::cgroup2);
  EXPECT_EQ(cgroup->pids(), Enforcement::cgroup2);
  EXPECT_EQ(cgroup->cpus(), Enforcement::cgroup2);
  EXPECT_GE(cgroup->clone_into_fd(), 0);
  EXPECT_TRUE(cgroup->tasks_fds().empty());
  EXPECT_EQ(why_, "");
}

TEST_F(FakeCgroup, EnforcesNothingThatWasNotAskedForOrIsNotThere) {
  FakeV2Tree all(kAll);
  const auto unlimited = create(all, {});
  ASSERT_NE(unlimited, nullptr);
  EXPECT_EQ(unlimited->memory(), Enforcement::none);
  EXPECT_EQ(unlimited->oom_fd(), -1);
  EXPECT_EQ(all.read("/wardcase/lock.1/memory.max"), "");

  FakeV2Tree some("pids");
  const auto cgroup = create(some);
  ASSERT_NE(cgroup, nullptr);
  EXPECT_EQ(cgroup->memory(), Enforcement::none);
  EXPECT_EQ(cgroup->pids(), Enforcement::cgroup2);
  EXPECT_EQ(cgroup->cpus(), Enforcement::none);
  EXPECT_TRUE(why_.starts_with("memory: not among the controllers")) << why_;
}

TEST_F(FakeCgroup, GoesWithoutSwapFilesButNotWithoutTheLimit) {
  FakeV2Tree without_swap(kAll);
  without_swap.leave_out("memory.swap.max");
  const auto cgroup = create(without_swap);
  ASSERT_NE(cgroup, nullptr);
  EXPECT_EQ(cgroup->memory(), Enforcement::cgroup2);

  for (const char* file : {"memory.max", "memory.oom.group", "pids.max", "cpu.max"}) {
    FakeV2Tree without(kAll);
    without.leave_out(file);
    const auto failed = try_create(without, kLimits);
    ASSERT_FALSE(failed) << file;
    EXPECT_NE(failed.error().what.find(file), std::string::npos) << failed.error().message();
  }
}

TEST_F(FakeCgroup, IsNoneWhereNoGroupMayBeMade) {
  for (const int refusal : {EROFS, EACCES}) {
    FakeV2Tree tree(kAll);
    tree.refuse_groups(refusal);
    EXPECT_EQ(create(tree), nullptr);
    EXPECT_TRUE(why_.starts_with("cgroup2: make control group '" + tree.root() + "/wardcase'"))
        << why_;
  }
  FakeV2Tree tree(kAll);
  fs::create_directories(tree.path("/wardcase/lock.1"));  // somebody else's
  EXPECT_EQ(create(tree), nullptr);
  EXPECT_TRUE(fs::exists(tree.path("/wardcase/lock.1")));
}

TEST_F(FakeCgroup, IsNoneBelowAThreadedGroup) {
  FakeV2Tree tree(kAll);
  auto calls = tree.calls();
  calls.make_directory = [&, make = calls.make_directory](const char* path, mode_t mode) {
    const int made = make(path, mode);
    if (made == 0) std::ofstream(std::string(path) + "/cgroup.type") << "domain invalid\n";
    return made;
  };
  const auto made = create_cgroup_v2(tree.root(), "lock.1", kLimits, calls, &why_);
  ASSERT_TRUE(made);
  EXPECT_EQ(*made, nullptr);
  EXPECT_NE(why_.find("cgroup2: the group above is a threaded one"), std::string::npos) << why_;
}

TEST_F(FakeCgroup, TellsTheBoxsOwnOutOfMemoryOnce) {
  FakeV2Tree tree(kAll);
  const auto cgroup = create(tree);
  ASSERT_NE(cgroup, nullptr);
  EXPECT_EQ(cgroup->oom_epoll_events(), static_cast<std::uint32_t>(EPOLLPRI));
  EXPECT_EQ(cgroup->read_oom_event(), OomEvent::nothing);
  const auto now_reads = [&](const char* events) {
    tree.write("/wardcase/lock.1/memory.events", events);
  };
  now_reads("low 0\nhigh 0\nmax 9\noom 1\noom_kill 0\noom_group_kill 0\n");
  EXPECT_EQ(cgroup->read_oom_event(), OomEvent::nothing);  // nobody was killed yet
  now_reads("low 0\nhigh 0\nmax 9\noom 1\noom_kill 1\noom_group_kill 0\n");
  EXPECT_EQ(cgroup->read_oom_event(), OomEvent::box);
  now_reads("low 0\nhigh 0\nmax 9\noom 1\noom_kill 5\noom_group_kill 1\n");  // all of the group
  EXPECT_EQ(cgroup->read_oom_event(), OomEvent::nothing);
  now_reads("low 0\nhigh 0\nmax 9\noom 2\noom_kill 6\noom_group_kill 2\n");
  EXPECT_EQ(cgroup->read_oom_event(), OomEvent::box);
  EXPECT_EQ(cgroup->read_usage().oom_kills, 6U);
}

// An ancestor's limit kills the group as a whole, too, and counts its victims here.
TEST_F(FakeCgroup, TellsAKillThatItsOwnLimitDoesNotExplain) {
  FakeV2Tree tree(kAll);
  const auto cgroup = create(tree);
  ASSERT_NE(cgroup, nullptr);
  tree.write("/wardcase/lock.1/memory.events", "max 0\noom 0\noom_kill 2\noom_group_kill 1\n");
  EXPECT_EQ(cgroup->read_oom_event(), OomEvent::host);
  EXPECT_EQ(cgroup->read_oom_event(), OomEvent::nothing);
}

TEST_F(FakeCgroup, ReadsWhatWasUsed) {
  FakeV2Tree tree(kAll);
  const auto cgroup = create(tree);
  ASSERT_NE(cgroup, nullptr);
  tree.write("/wardcase/lock.1/memory.peak", "123456\n");
  tree.write("/wardcase/lock.1/cpu.stat", "usage_usec 2500\nuser_usec 2000\n");
  tree.write("/wardcase/lock.1/pids.peak", "5\n");
  tree.write("/wardcase/lock.1/pids.events", "max 3\n");
  const CgroupUsage usage = cgroup->read_usage();
  EXPECT_EQ(usage.memory_peak_bytes, 123456U);
  EXPECT_EQ(usage.cpu, 2500us);
  EXPECT_EQ(usage.processes_peak, 4U);
  EXPECT_TRUE(usage.pids_limit_hit);
}

TEST_F(FakeCgroup, DoesNotKnowThePeaksThatOlderKernelsDoNotKeep) {
  FakeV2Tree tree(kAll);
  tree.leave_out("memory.peak");
  const auto cgroup = create(tree);
  ASSERT_NE(cgroup, nullptr);
  fs::remove(tree.path("/wardcase/lock.1/pids.peak"));
  const CgroupUsage usage = cgroup->read_usage();
  EXPECT_EQ(usage.memory_peak_bytes, std::nullopt);
  EXPECT_EQ(usage.processes_peak, std::nullopt);
  EXPECT_FALSE(usage.pids_limit_hit);
}

TEST_F(FakeCgroup, WritesKillAndFreeze) {
  FakeV2Tree tree(kAll);
  const auto cgroup = create(tree);
  ASSERT_NE(cgroup, nullptr);
  EXPECT_TRUE(cgroup->set_frozen(true));
  EXPECT_EQ(tree.read("/wardcase/lock.1/cgroup.freeze").front(), '1');
  EXPECT_TRUE(cgroup->can_kill());
  EXPECT_TRUE(cgroup->kill());
  EXPECT_EQ(tree.read("/wardcase/lock.1/cgroup.kill"), "1");
}

std::string unified_at(const std::string& mount_point) {
  return "1 1 0:1 / " + mount_point + " rw - cgroup2 x rw\n";
}

TEST(CgroupHostV2, IsChosenWhereTheTreeHasTheControllers) {
  const FakeV2Tree pure(kAll);
  EXPECT_EQ(CgroupHost::discover(unified_at(pure.root())).hierarchies().size(), 1U);

  const FakeV2Tree hybrid("hugetlb");
  const std::string v1 = "2 1 0:2 / /v1 rw - cgroup cgroup rw,memory\n";
  EXPECT_EQ(CgroupHost::discover(unified_at(hybrid.root()) + v1).hierarchies().size(), 2U);
  EXPECT_EQ(CgroupHost::discover(unified_at(pure.root()) + v1).hierarchies().size(), 1U);
}

TEST(CgroupHostV2, WorksBelowTheGroupThatIsOurs) {
  const FakeV2Tree tree;
  tree.write("/cgroup.events", "populated 1\n");  // not the real root: root takes its own, too
  tree.add_group("/own", "");
  const auto host = CgroupHost::discover(unified_at(tree.root()), "0::/own\n");
  ASSERT_EQ(host.hierarchies().size(), 1U);
  EXPECT_EQ(host.hierarchies().front().parent(), tree.path("/own/wardcase"));
  EXPECT_TRUE(host.may_create());
  EXPECT_FALSE(CgroupHost::discover(unified_at("/no/such/place")).may_create());
}

TEST(CgroupHostV2, SweepsTheGroupThatIsOurs) {
  const TemporaryDirectory tree;
  const TemporaryDirectory locks;
  fs::create_directories(tree.path() + "/own/wardcase/gone.1");
  fs::create_directories(tree.path() + "/own/wardcase/live.1");
  fs::last_write_time(tree.path() + "/own/wardcase/gone.1",
                      fs::file_time_type::clock::now() - std::chrono::minutes(11));
  fs::create_directories(tree.path() + "/own/supervisor");
  std::ofstream(tree.path() + "/cgroup.events") << "populated 1\n";
  const auto live = StateLock::acquire(locks.path(), "live");
  ASSERT_TRUE(live) << live.error().message();
  const auto host = CgroupHost::discover(unified_at(tree.path()), "0::/own\n");
  EXPECT_EQ(host.sweep(locks.path()), 1);
  EXPECT_FALSE(fs::exists(tree.path() + "/own/wardcase/gone.1"));
  EXPECT_TRUE(fs::exists(tree.path() + "/own/wardcase/live.1"));
  EXPECT_TRUE(fs::exists(tree.path() + "/own/supervisor"));
}

TEST_F(FakeCgroup, KillsOneProcessWhereTheOthersAreToGoOn) {
  FakeV2Tree tree(kAll);
  CgroupLimits limits = kLimits;
  limits.oom_kills_all = false;
  const auto made = create_cgroup_v2(tree.root(), "lock.1", limits, tree.calls(), &why_);
  ASSERT_TRUE(made && *made);
  EXPECT_EQ(tree.read("/wardcase/lock.1/memory.oom.group"), "");
  const auto after = [&](const char* events) {
    tree.write("/wardcase/lock.1/memory.events", events);
    return (*made)->read_oom_event();
  };
  EXPECT_EQ(after("oom 1\noom_kill 1\n"), OomEvent::box);
  EXPECT_EQ(after("oom 2\noom_kill 2\n"), OomEvent::box);
  EXPECT_EQ(after("oom 4\noom_kill 3\n"), OomEvent::box);
  EXPECT_EQ(after("oom 4\noom_kill 4\n"), OomEvent::box);   // the second of two at once
  EXPECT_EQ(after("oom 4\noom_kill 5\n"), OomEvent::host);  // each of its own has an oom
}

}  // namespace
}  // namespace wardcase::sandbox
