// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/state_lock.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "tests/unit/sandbox/temporary_directory.h"

namespace wardcase::sandbox {
namespace {

namespace fs = std::filesystem;
using test::TemporaryDirectory;

TEST(StateLock, MakesItsDirectoryForUsAlone) {
  const TemporaryDirectory scratch;
  const std::string directory = scratch.path() + "/locks";
  const auto lock = StateLock::acquire(directory, "one");
  ASSERT_TRUE(lock) << lock.error().message();
  EXPECT_EQ(lock->name(), "one");
  struct stat status = {};
  ASSERT_EQ(::stat(directory.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0700U);
}

TEST(StateLock, IsHeldByOneOnly) {
  const TemporaryDirectory scratch;
  const auto first = StateLock::acquire(scratch.path(), "one");
  ASSERT_TRUE(first) << first.error().message();
  const auto second = StateLock::acquire(scratch.path(), "one");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, EWOULDBLOCK);
  EXPECT_TRUE(StateLock::acquire(scratch.path(), "two"));
}

TEST(StateLock, RemovesItsFileAtTheEnd) {
  const TemporaryDirectory scratch;
  { ASSERT_TRUE(StateLock::acquire(scratch.path(), "one")); }
  EXPECT_TRUE(fs::is_empty(scratch.path()));
}

TEST(StateLock, LeavesItsFileWhereSomethingIsLeftToSweep) {
  const TemporaryDirectory scratch;
  {
    auto lock = StateLock::acquire(scratch.path(), "one");
    ASSERT_TRUE(lock);
    lock->leave();
  }
  EXPECT_TRUE(fs::exists(scratch.path() + "/one"));
  { ASSERT_TRUE(StateLock::take_over(scratch.path(), "one")); }
  EXPECT_FALSE(fs::exists(scratch.path() + "/one"));
}

TEST(StateLock, KeepsTheLockWhenMoved) {
  const TemporaryDirectory scratch;
  auto first = StateLock::acquire(scratch.path(), "one");
  auto second = StateLock::acquire(scratch.path(), "two");
  ASSERT_TRUE(first && second);
  {
    StateLock moved = std::move(*first);
    EXPECT_TRUE(fs::exists(scratch.path() + "/one"));
    moved = std::move(*second);
    EXPECT_EQ(moved.name(), "two");
    EXPECT_FALSE(StateLock::acquire(scratch.path(), "two"));
  }
  EXPECT_FALSE(fs::exists(scratch.path() + "/two"));
}

TEST(StateLock, TakesOverTheFileOfADeadOwner) {
  const TemporaryDirectory scratch;
  std::ofstream(scratch.path() + "/dead").flush();
  {
    const auto lock = StateLock::take_over(scratch.path(), "dead");
    ASSERT_TRUE(lock) << lock.error().message();
    EXPECT_FALSE(StateLock::acquire(scratch.path(), "dead"));
  }
  EXPECT_FALSE(fs::exists(scratch.path() + "/dead"));
}

TEST(StateLock, TakesOverNothingThatIsMissingOrHeld) {
  const TemporaryDirectory scratch;
  const auto missing = StateLock::take_over(scratch.path(), "none");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ENOENT);
  EXPECT_TRUE(fs::is_empty(scratch.path()));

  const auto owner = StateLock::acquire(scratch.path(), "live");
  const auto held = StateLock::take_over(scratch.path(), "live");
  ASSERT_FALSE(held);
  EXPECT_EQ(held.error().code, EWOULDBLOCK);
  EXPECT_TRUE(fs::exists(scratch.path() + "/live"));
}

TEST(StateLock, FollowsNoSymlink) {
  const TemporaryDirectory scratch;
  fs::create_directory(scratch.path() + "/real");
  fs::create_directory_symlink("real", scratch.path() + "/link");
  EXPECT_FALSE(StateLock::acquire(scratch.path() + "/link", "one"));

  fs::create_symlink("elsewhere", scratch.path() + "/real/one");
  const auto lock = StateLock::acquire(scratch.path() + "/real", "one");
  ASSERT_FALSE(lock);
  EXPECT_EQ(lock.error().code, ELOOP);
  EXPECT_FALSE(fs::exists(scratch.path() + "/real/elsewhere"));
}

TEST(StateLock, RefusesADirectoryThatOthersCanWrite) {
  const TemporaryDirectory scratch;
  const std::string directory = scratch.path() + "/open";
  fs::create_directory(directory);
  fs::permissions(directory, fs::perms::all);
  const auto lock = StateLock::acquire(directory, "one");
  ASSERT_FALSE(lock);
  EXPECT_NE(lock.error().what.find(directory), std::string::npos);
}

TEST(StateLock, RefusesADirectoryOfSomebodyElse) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  const TemporaryDirectory scratch;
  const std::string directory = scratch.path() + "/theirs";
  fs::create_directory(directory);
  ASSERT_EQ(::chown(directory.c_str(), 65534, 65534), 0);
  EXPECT_FALSE(StateLock::acquire(directory, "one"));
}

TEST(IdLease, HandsOutDifferentIdsOfThePool) {
  const TemporaryDirectory scratch;
  const auto first = IdLease::take(scratch.path());
  const auto second = IdLease::take(scratch.path());
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->id(), second->id());
  for (const auto& lease : {&first, &second}) {
    EXPECT_GE((*lease)->id(), IdLease::kPoolFirst);
    EXPECT_LT((*lease)->id(), IdLease::kPoolFirst + IdLease::kPoolCount);
  }
}

TEST(IdLease, GivesItsIdBack) {
  const TemporaryDirectory scratch;
  { ASSERT_TRUE(IdLease::take(scratch.path())); }
  EXPECT_TRUE(fs::is_empty(scratch.path()));
}

TEST(IdLease, TakesTheIdOfADeadOwner) {
  const TemporaryDirectory scratch;
  for (std::uint32_t i = 0; i < IdLease::kPoolCount; ++i) {
    std::ofstream(scratch.path() + "/" + std::to_string(IdLease::kPoolFirst + i)).flush();
  }
  EXPECT_TRUE(IdLease::take(scratch.path()));
}

TEST(IdLease, TakesNoIdOutsideTheRangeItIsGiven) {
  const TemporaryDirectory scratch;
  const auto first = IdLease::take(scratch.path(), {70'000, 2});
  const auto second = IdLease::take(scratch.path(), {70'000, 2});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(std::set({first->id(), second->id()}), (std::set<std::uint32_t>{70'000, 70'001}));
  const auto third = IdLease::take(scratch.path(), {70'000, 2});
  ASSERT_FALSE(third);
  EXPECT_NE(third.error().message().find("all 2 of"), std::string::npos);
}

// Sets a variable for the scope and restores what it was.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = ::getenv(name)) old_ = old;
    (void)::setenv(name, value.c_str(), 1);
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;
  ~ScopedVariable() {
    if (old_) {
      (void)::setenv(name_, old_->c_str(), 1);
    } else {
      (void)::unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

// Root acts as an ordinary user for a while; an ordinary user is one already.
class AsOrdinaryUser {
 public:
  explicit AsOrdinaryUser(const std::string& directory) : was_root_(::geteuid() == 0) {
    if (!was_root_) return;
    EXPECT_EQ(::chown(directory.c_str(), kUid, kUid), 0);
    EXPECT_EQ(::seteuid(kUid), 0);
  }
  AsOrdinaryUser(const AsOrdinaryUser&) = delete;
  AsOrdinaryUser& operator=(const AsOrdinaryUser&) = delete;
  ~AsOrdinaryUser() {
    if (was_root_) {
      EXPECT_EQ(::seteuid(0), 0);
    }
  }

 private:
  static constexpr uid_t kUid = 65531;
  bool was_root_;
};

TEST(RuntimeDirectory, OfAnOrdinaryUserFollowsTheEnvironment) {
  const TemporaryDirectory scratch;
  const AsOrdinaryUser user(scratch.path());
  const ScopedVariable home("HOME", scratch.path());
  const ScopedVariable state("XDG_STATE_HOME", "relative/is/ignored");
  {
    const ScopedVariable runtime("XDG_RUNTIME_DIR", "");
    EXPECT_EQ(runtime_directory().value_or("none"), scratch.path() + "/.local/state/wardcase");
  }
  const ScopedVariable runtime("XDG_RUNTIME_DIR", scratch.path());
  EXPECT_EQ(runtime_directory().value_or("none"), scratch.path() + "/wardcase");
}

}  // namespace
}  // namespace wardcase::sandbox
