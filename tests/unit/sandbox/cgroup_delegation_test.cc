// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/cgroup_delegation.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <filesystem>

#include "tests/unit/sandbox/fake_v2_tree.h"

namespace wardcase::sandbox {
namespace {

namespace fs = std::filesystem;
using test::FakeV2Tree;

constexpr uid_t kRoot = 0;
constexpr uid_t kUser = 1000;

TEST(OwnV2Group, IsReadFromItsLineBelowTheRootOfTheMount) {
  EXPECT_EQ(find_own_v2_group("4:memory:/a\n0::/user.slice/x.scope\n", "/"), "/user.slice/x.scope");
  EXPECT_EQ(find_own_v2_group("0::/\n", "/"), "");
  EXPECT_EQ(find_own_v2_group("0::/docker/1/below", "/docker/1"), "/below");
  EXPECT_EQ(find_own_v2_group("0::/docker/1\n", "/docker/1"), "");
}

TEST(OwnV2Group, IsUnknownWhereTheMountDoesNotShowIt) {
  EXPECT_EQ(find_own_v2_group("", "/"), std::nullopt);
  EXPECT_EQ(find_own_v2_group("4:memory:/a\n", "/"), std::nullopt);
  EXPECT_EQ(find_own_v2_group("0::/elsewhere\n", "/docker/1"), std::nullopt);
  EXPECT_EQ(find_own_v2_group("0::/docker/12\n", "/docker/1"), std::nullopt);
  EXPECT_EQ(find_own_v2_group("0::/../outside\n", "/"), std::nullopt);
}

TEST(V2Group, OfAnOrdinaryUserIsHisOwn) {
  const FakeV2Tree tree;
  tree.add_group("/x.scope", "memory pids");
  EXPECT_EQ(choose_v2_group(tree.root(), "/x.scope", kUser), "/x.scope");
  EXPECT_EQ(choose_v2_group(tree.root(), std::nullopt, kUser), "");
}

TEST(V2Group, OfRootIsTheRealRoot) {
  const FakeV2Tree tree;
  tree.add_group("/x.service", "memory pids");
  EXPECT_EQ(choose_v2_group(tree.root(), "/x.service", kRoot), "");
}

TEST(V2Group, OfRootInADelegatedUnitIsItsOwn) {
  const FakeV2Tree tree;
  tree.add_group("/x.service", "memory pids");
  if (::setxattr(tree.path("/x.service").c_str(), "trusted.delegate", "1", 1, 0) < 0) {
    GTEST_SKIP() << "only root may write trusted attributes";
  }
  EXPECT_EQ(choose_v2_group(tree.root(), "/x.service", kRoot), "/x.service");
}

TEST(V2Group, OfRootInAContainerIsItsOwn) {
  const FakeV2Tree tree;
  tree.write("/cgroup.events", "populated 1\n");
  tree.add_group("/box", "memory pids");
  EXPECT_EQ(choose_v2_group(tree.root(), "/box", kRoot), "/box");
}

TEST(V2Group, IsTheOneAboveForWhoStandsInSupervisor) {
  const FakeV2Tree tree;
  tree.add_group("/x.scope", "memory pids");
  tree.add_group("/x.scope/supervisor", "");
  EXPECT_EQ(choose_v2_group(tree.root(), "/x.scope/supervisor", kUser), "/x.scope");
  fs::remove(tree.path("/x.scope/cgroup.procs"));  // not ours to write
  EXPECT_EQ(choose_v2_group(tree.root(), "/x.scope/supervisor", kUser), "/x.scope/supervisor");
}

TEST(LeafParent, GetsTheControllersOfTheRealRootWithoutMovingAnybody) {
  FakeV2Tree tree("memory pids cpu io hugetlb");
  tree.write("/cgroup.procs", "1\n" + std::to_string(::getpid()) + "\n");
  std::string why;
  const auto given = prepare_leaf_parent(tree.root(), tree.calls(), &why);
  ASSERT_TRUE(given) << given.error().message();
  EXPECT_EQ(*given, (Controllers{true, true, true, true}));
  EXPECT_EQ(why, "");
  EXPECT_EQ(tree.read("/cgroup.subtree_control"), "memory pids cpu io");
  EXPECT_EQ(tree.read("/wardcase/cgroup.subtree_control"), "memory pids cpu io");
  EXPECT_FALSE(fs::exists(tree.path("/supervisor")));
}

TEST(LeafParent, IsLeftAloneOnceItHasThem) {
  FakeV2Tree tree("memory pids cpu io");
  std::string why;
  ASSERT_TRUE(prepare_leaf_parent(tree.root(), tree.calls(), &why));
  tree.refuse("cgroup.subtree_control", "", EBUSY);
  ASSERT_TRUE(prepare_leaf_parent(tree.root(), tree.calls(), &why));
  EXPECT_EQ(why, "");
}

TEST(LeafParent, LeavesOutAMissingControllerByName) {
  FakeV2Tree tree("memory pids");
  std::string why;
  const auto given = prepare_leaf_parent(tree.root(), tree.calls(), &why);
  ASSERT_TRUE(given);
  EXPECT_EQ(*given, (Controllers{true, true, false, false}));
  EXPECT_EQ(why, "cpu: not among the controllers of '" + tree.root() +
                     "'; io: not among the controllers of '" + tree.root() + "'");
}

TEST(LeafParent, HasOurProcessMoveIntoSupervisorWhereItIsAlone) {
  FakeV2Tree tree;
  tree.add_group("/x.scope", "memory pids");
  tree.write("/x.scope/cgroup.procs", std::to_string(::getpid()) + "\n");
  std::string why;
  const auto given = prepare_leaf_parent(tree.path("/x.scope"), tree.calls(), &why);
  ASSERT_TRUE(given);
  EXPECT_EQ(*given, (Controllers{true, true, false, false}));
  EXPECT_EQ(tree.read("/x.scope/supervisor/cgroup.procs"), std::to_string(::getpid()));
  EXPECT_EQ(tree.read("/x.scope/wardcase/cgroup.subtree_control"), "memory pids");
}

TEST(LeafParent, HasOurChildrenMoveWithUs) {
  const pid_t child = ::fork();
  if (child == 0) {
    while (true) ::pause();
  }
  ASSERT_GT(child, 0);
  FakeV2Tree tree;
  tree.add_group("/x.scope", "memory pids");
  tree.write("/x.scope/cgroup.procs",
             std::to_string(::getpid()) + "\n" + std::to_string(child) + "\n");
  std::string why;
  const auto given = prepare_leaf_parent(tree.path("/x.scope"), tree.calls(), &why);
  (void)::kill(child, SIGKILL);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  ASSERT_TRUE(given);
  EXPECT_EQ(*given, (Controllers{true, true, false, false})) << why;
  EXPECT_EQ(tree.read("/x.scope/supervisor/cgroup.procs"), std::to_string(child));  // the last
}

// Enabled among processes, pids or cpu alone would make the group a threaded one.
TEST(LeafParent, TakesNoControllerBesideOtherProcesses) {
  FakeV2Tree tree;
  tree.add_group("/x.scope", "pids cpu");
  tree.write("/x.scope/cgroup.procs", "1\n" + std::to_string(::getpid()) + "\n");
  std::string why;
  const auto given = prepare_leaf_parent(tree.path("/x.scope"), tree.calls(), &why);
  ASSERT_TRUE(given);
  EXPECT_EQ(*given, Controllers{});
  EXPECT_EQ(tree.read("/x.scope/cgroup.subtree_control"), "");
  EXPECT_FALSE(fs::exists(tree.path("/x.scope/supervisor")));
  EXPECT_NE(why.find("pids: other processes are in '" + tree.path("/x.scope") + "'"),
            std::string::npos)
      << why;
}

TEST(LeafParent, TakesNoFurtherControllerOnceTheGroupIsBusy) {
  FakeV2Tree tree("memory pids cpu io");
  tree.refuse("cgroup.subtree_control", "+memory", EBUSY);
  std::string why;
  const auto given = prepare_leaf_parent(tree.root(), tree.calls(), &why);
  ASSERT_TRUE(given);
  EXPECT_EQ(*given, Controllers{});
  EXPECT_EQ(tree.read("/cgroup.subtree_control"), "");
  for (const char* reason : {"memory: ", "; pids: ", "; cpu: ", "(EBUSY)"}) {
    EXPECT_NE(why.find(reason), std::string::npos) << why;
  }
}

TEST(LeafParent, GoesOnWithoutAControllerThatIsRefused) {
  for (const int refusal : {EACCES, EOPNOTSUPP, EROFS, EINVAL}) {
    FakeV2Tree tree("memory pids cpu io");
    tree.refuse("cgroup.subtree_control", "+cpu", refusal);
    std::string why;
    const auto given = prepare_leaf_parent(tree.root(), tree.calls(), &why);
    ASSERT_TRUE(given);
    EXPECT_EQ(*given, (Controllers{true, true, false, true}));
    EXPECT_TRUE(why.starts_with("cpu: write 'cgroup.subtree_control': ")) << why;
  }
}

TEST(LeafParent, SaysWhenOurProcessCannotMove) {
  FakeV2Tree tree;
  tree.add_group("/x.scope", "memory");
  tree.write("/x.scope/cgroup.procs", std::to_string(::getpid()) + "\n");
  tree.refuse("cgroup.procs", "", EACCES);
  std::string why;
  const auto given = prepare_leaf_parent(tree.path("/x.scope"), tree.calls(), &why);
  ASSERT_TRUE(given);
  EXPECT_EQ(*given, Controllers{});
  EXPECT_NE(why.find("memory: write 'cgroup.procs': Permission denied (EACCES)"), std::string::npos)
      << why;
}

TEST(LeafParent, IsNoneInAReadOnlyTree) {
  FakeV2Tree tree("memory pids");
  tree.refuse_groups(EROFS);
  std::string why;
  const auto given = prepare_leaf_parent(tree.root(), tree.calls(), &why);
  ASSERT_FALSE(given);
  EXPECT_EQ(given.error().code, EROFS);
}

TEST(LeafParent, IsNoneInAGroupThatIsNotOurs) {
  FakeV2Tree tree("memory pids");
  std::string why;
  fs::remove(tree.path("/cgroup.procs"));
  EXPECT_FALSE(prepare_leaf_parent(tree.root(), tree.calls(), &why));
  EXPECT_FALSE(prepare_leaf_parent(tree.path("/gone"), tree.calls(), &why));
  tree.write("/cgroup.procs", "");
  ASSERT_TRUE(prepare_leaf_parent(tree.root(), tree.calls(), &why));
  if (::geteuid() != 0) return;  // giving a group to somebody else takes root
  ASSERT_EQ(::chown(tree.root().c_str(), kUser, kUser), 0);
  const auto given = prepare_leaf_parent(tree.root(), tree.calls(), &why);
  ASSERT_FALSE(given);
  EXPECT_EQ(given.error().what, "'" + tree.root() + "' belongs to another user");
}

}  // namespace
}  // namespace wardcase::sandbox
