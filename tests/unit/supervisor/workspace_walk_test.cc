// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/workspace_walk.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sandbox/sys/files.h"
#include "tests/unit/sandbox/temporary_directory.h"

namespace wardcase::supervisor {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::uint64_t kMany = 1'000'000;

class AWorkspaceWalk : public testing::Test {
 protected:
  void SetUp() override { open_root(top_); }

  void open_root(const fs::path& path) {
    auto place = sys::open_at(AT_FDCWD, path.c_str(), O_PATH);
    ASSERT_TRUE(place);
    struct stat info = {};
    ASSERT_EQ(::fstat(place->get(), &info), 0);
    roots_.push_back({path.string(), *std::move(place), info.st_dev, info.st_uid});
  }
  void write(const fs::path& name, std::size_t bytes) const {
    std::ofstream(top_ / name, std::ios::binary) << std::string(bytes, 'x');
  }
  [[nodiscard]] DiskUse count(const WalkRules& rules = {.most_inodes = kMany}) const {
    WorkspaceWalk walk(roots_, rules);
    while (!walk.step(Clock::now() + 10ms)) {
    }
    return walk.use();
  }
  [[nodiscard]] const fs::path& top() const { return top_; }
  [[nodiscard]] const std::vector<WorkspaceRoot>& roots() const { return roots_; }

 private:
  const test::TemporaryDirectory directory_;
  const fs::path top_ = directory_.path();
  std::vector<WorkspaceRoot> roots_;
};

TEST_F(AWorkspaceWalk, CountsBlocksAndInodes) {
  const DiskUse empty = count();
  EXPECT_EQ(empty.inodes, 1U);
  fs::create_directories(top() / "a/b/c");
  write("a/file", 100'000);
  write("a/b/c/file", 50'000);
  const DiskUse use = count();
  EXPECT_EQ(use.inodes, 6U);
  EXPECT_GE(use.bytes - empty.bytes, 150'000U);
  EXPECT_LE(use.bytes - empty.bytes, 300'000U);
}

TEST_F(AWorkspaceWalk, CountsAnInodeOnceHoweverItIsReached) {
  write("file", 100'000);
  const DiskUse before = count();
  for (int i = 0; i < 50; ++i) fs::create_hard_link(top() / "file", top() / std::to_string(i));
  open_root(top());  // the same tree a second time
  EXPECT_EQ(count().inodes, before.inodes);
  EXPECT_LT(count().bytes, before.bytes + 50'000);
}

TEST_F(AWorkspaceWalk, FollowsNoLinkAndOpensNoFile) {
  fs::create_symlink("/usr", top() / "usr");
  fs::create_symlink("..", top() / "up");
  ASSERT_EQ(::mkfifo((top() / "fifo").c_str(), 0600), 0);  // opened, it would wait for ever
  EXPECT_EQ(count().inodes, 4U);
}

TEST_F(AWorkspaceWalk, HolesCostNothing) {
  write("sparse", 1);
  fs::resize_file(top() / "sparse", std::uintmax_t{1} << 40);
  EXPECT_LT(count().bytes, 1'000'000U);
}

TEST_F(AWorkspaceWalk, GoesDeeperThanAPathCanSayWithFewDescriptors) {
  sys::UniqueFd here(::open(top().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::string name(100, 'd');
  for (int i = 0; i < 2000; ++i) {
    ASSERT_EQ(::mkdirat(here.get(), name.c_str(), 0700), 0);
    here.reset(::openat(here.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(here.is_open());
    ASSERT_EQ(::mkdirat(here.get(), "beside", 0700), 0);
  }
  EXPECT_EQ(count().inodes, 4001U);
}

TEST_F(AWorkspaceWalk, SurvivesDirectoriesThatAreMovedAwayBelowIt) {
  fs::create_directories(top() / "a/b");
  for (int i = 0; i < 500; ++i) fs::create_directory(top() / "a/b" / std::to_string(i));
  fs::create_directory(top() / "elsewhere");
  const DiskUse all = count();
  // At each of many moments: the directory that it is in goes somewhere else, and comes back.
  for (int moment = 0; moment < 40; ++moment) {
    WorkspaceWalk walk(roots(), {.most_inodes = kMany});
    bool is_over = false;
    for (int i = 0; i < moment && !is_over; ++i) is_over = walk.step(Clock::now());
    fs::rename(top() / "a/b", top() / "elsewhere/b");
    while (!is_over) is_over = walk.step(Clock::now());
    EXPECT_LE(walk.use().inodes, all.inodes);
    EXPECT_EQ(count().inodes, all.inodes);
    fs::rename(top() / "elsewhere/b", top() / "a/b");
  }
}

TEST_F(AWorkspaceWalk, GivesUpWhereThereIsMoreThanItMaySee) {
  for (int i = 0; i < 100; ++i) write(std::to_string(i), 1);
  WorkspaceWalk walk(roots(), {.most_inodes = 50});
  while (!walk.step(Clock::now())) {
  }
  EXPECT_TRUE(walk.saw_too_many());
  EXPECT_EQ(walk.use().inodes, 51U);
}

TEST_F(AWorkspaceWalk, GivesUpWhereOneFileHasMoreNamesThanItMaySee) {
  write("file", 1);
  for (int i = 0; i < 100; ++i) fs::create_hard_link(top() / "file", top() / std::to_string(i));
  for (const std::uint64_t most : {50U, 150U}) {
    WorkspaceWalk walk(roots(), {.most_inodes = most});
    EXPECT_TRUE(walk.step(Clock::now() + 10s));
    EXPECT_EQ(walk.saw_too_many(), most < 101);
  }
}

TEST_F(AWorkspaceWalk, OpensToTheirOwnerOnlyDirectoriesThatWereTouchedSince) {
  const auto mode = [&] {
    struct stat info = {};
    EXPECT_EQ(::stat((top() / "closed").c_str(), &info), 0);
    return info.st_mode & 07777U;
  };
  fs::create_directory(top() / "closed");
  write("closed/file", 1);
  ASSERT_EQ(::chmod((top() / "closed").c_str(), 0050), 0);
  timespec later = {};
  ASSERT_EQ(::clock_gettime(CLOCK_REALTIME, &later), 0);
  later.tv_sec += 10;
  (void)count({.reopen = Reopen::all, .began = later, .most_inodes = kMany});
  EXPECT_EQ(mode(), 0050U);
  (void)count({.most_inodes = kMany});
  EXPECT_EQ(mode(), 0050U);
  EXPECT_EQ(count({.reopen = Reopen::all, .most_inodes = kMany}).inodes, 3U);
  EXPECT_EQ(mode(), 0750U);
}

}  // namespace
}  // namespace wardcase::supervisor
