// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/content_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/unit/sandbox/temporary_directory.h"

namespace wardcase::supervisor {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class Caches : public testing::Test {
 protected:
  Caches() { ::setenv("XDG_CACHE_HOME", base_.path().c_str(), 1); }
  ~Caches() override { ::unsetenv("XDG_CACHE_HOME"); }

  static ContentCache open() { return ContentCache::open("things").value(); }
  [[nodiscard]] std::string place() const { return base_.path() + "/wardcase/things"; }
  static void write(const std::string& path, std::string_view text) {
    std::ofstream(path) << text;
    fs::permissions(path, fs::perms::owner_all);
  }
  static CacheEntry make(const ContentCache& cache, const std::string& hash) {
    auto build = cache.build(hash).value();
    write(build->path(), hash);
    return build->publish().value();
  }
  [[nodiscard]] std::size_t names() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(place()), fs::directory_iterator()));
  }

  test::TemporaryDirectory base_;
};

TEST_F(Caches, AnEntryIsFoundOnceItIsPublishedAndNothingElseIsLeft) {
  const ContentCache cache = open();
  EXPECT_FALSE(cache.find("a").value());
  const CacheEntry made = make(cache, "a");
  EXPECT_EQ(made.path, place() + "/a");
  const auto found = cache.find("a").value();
  ASSERT_TRUE(found);
  char text = 0;
  EXPECT_EQ(::read(found->fd.get(), &text, 1), 1);
  EXPECT_EQ(text, 'a');
  EXPECT_EQ(names(), 1U);
}

TEST_F(Caches, ADirectoryIsAnEntryToo) {
  const ContentCache cache = open();
  auto build = cache.build("d").value();
  fs::create_directory(build->path());
  write(build->path() + "/inside", "x");
  ASSERT_TRUE(build->publish());
  EXPECT_TRUE(cache.find("d").value());
  EXPECT_TRUE(fs::exists(place() + "/d/inside"));
}

TEST_F(Caches, OneBuildsWhileOthersAreTold) {
  const ContentCache cache = open();
  auto first = cache.build("a").value();
  ASSERT_TRUE(first);
  EXPECT_FALSE(cache.build("a").value());
  EXPECT_TRUE(cache.build("b").value());
  first.reset();
  EXPECT_TRUE(cache.build("a").value());
}

TEST_F(Caches, WhatIsNotPublishedGoesWithItsBuild) {
  const ContentCache cache = open();
  {
    auto build = cache.build("a").value();
    fs::create_directories(build->path() + "/deep/deeper");
  }
  EXPECT_FALSE(cache.find("a").value());
  EXPECT_EQ(names(), 0U);
}

// What a kill leaves: the lock's file, which nobody holds, and what was being made.
TEST_F(Caches, WhatADeadBuildLeftIsRemovedByTheNextAndIsNoEntry) {
  const ContentCache cache = open();
  for (const char* hash : {"a", "b"}) {
    write(place() + "/" + hash + ".lock", "");
    fs::create_directories(place() + "/.building-" + hash + ".XYZ/half");
  }
  EXPECT_FALSE(cache.find("a").value());
  const auto live = cache.build("c").value();
  write(live->path(), "");
  EXPECT_EQ(names(), 2U);  // the live one's lock and file
  EXPECT_TRUE(cache.build("a").value());
  EXPECT_TRUE(fs::exists(live->path()));
}

TEST_F(Caches, AnEntryInUseIsMarkedForWhoeverCollects) {
  const ContentCache cache = open();
  auto used = std::optional(make(cache, "a"));
  const int other = ::open((place() + "/a").c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(::flock(other, LOCK_EX | LOCK_NB), -1);
  used.reset();
  EXPECT_EQ(::flock(other, LOCK_EX | LOCK_NB), 0);
  EXPECT_FALSE(cache.find("a").value());  // it is being collected
  ::close(other);
}

TEST_F(Caches, AnEntryThatOthersCanWriteToIsRefused) {
  const ContentCache cache = open();
  make(cache, "a");
  ASSERT_TRUE(cache.find("a"));
  ASSERT_EQ(::chmod((place() + "/a").c_str(), 0722), 0);
  EXPECT_FALSE(cache.find("a"));
}

TEST_F(Caches, AnEntryWithASecondNameIsRefused) {
  const ContentCache cache = open();
  make(cache, "a");
  fs::create_hard_link(place() + "/a", base_.path() + "/other");
  EXPECT_FALSE(cache.find("a"));
}

TEST_F(Caches, ALinkIsNoEntry) {
  const ContentCache cache = open();
  write(base_.path() + "/elsewhere", "x");
  fs::create_symlink(base_.path() + "/elsewhere", place() + "/a");
  EXPECT_FALSE(cache.find("a"));
}

TEST_F(Caches, ADirectoryThatOthersCanWriteToIsRefusedByName) {
  (void)open();
  ASSERT_EQ(::chmod(place().c_str(), 0777), 0);
  const auto refused = ContentCache::open("things");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find(place()), std::string::npos);
  ASSERT_EQ(::chmod(place().c_str(), 0700), 0);
}

TEST_F(Caches, AServiceHasTheDirectoryOfItsManager) {
  const test::TemporaryDirectory given;
  ::setenv("CACHE_DIRECTORY", (given.path() + ":/nowhere").c_str(), 1);
  EXPECT_EQ(open().path(), given.path() + "/things");
  ::unsetenv("CACHE_DIRECTORY");
}

class Claims : public Caches {
 protected:
  void SetUp() override { loop_.emplace(EventLoop::create().value()); }

  // Turns the loop until `claim` has its answer.
  CacheAnswer await(CacheClaim& claim) {
    std::optional<CacheAnswer> answer;
    loop_->post([&] {
      claim.start([&](sys::Result<CacheAnswer> given) {
        answer = std::move(given).value();
        loop_->stop();
      });
    });
    EXPECT_TRUE(loop_->run());
    return std::move(answer).value();
  }

  std::optional<EventLoop> loop_;
};

TEST_F(Claims, OfNothingAreTheRightToBuild) {
  CacheClaim claim(*loop_, open(), "a");
  const CacheAnswer answer = await(claim);
  EXPECT_TRUE(answer.build);
  EXPECT_FALSE(answer.entry);
}

TEST_F(Claims, WaitForWhoeverBuilds) {
  const ContentCache cache = open();
  auto build = cache.build("a").value();
  loop_->at(Clock::now() + 30ms, [&] {
    write(build->path(), "x");
    ASSERT_TRUE(build->publish());
    build.reset();
  });
  CacheClaim claim(*loop_, cache, "a");
  EXPECT_TRUE(await(claim).entry);
}

TEST_F(Claims, TakeOverFromABuildThatFailed) {
  const ContentCache cache = open();
  auto build = cache.build("a").value();
  loop_->at(Clock::now() + 30ms, [&] { build.reset(); });
  CacheClaim claim(*loop_, cache, "a");
  EXPECT_TRUE(await(claim).build);
}

}  // namespace
}  // namespace wardcase::supervisor
