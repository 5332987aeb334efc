// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/private_directory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "sandbox/state_lock.h"
#include "tests/unit/sandbox/temporary_directory.h"

namespace wardcase::sandbox {
namespace {

namespace fs = std::filesystem;

class PrivateDirectories : public testing::Test {
 protected:
  PrivateDirectories() { ::setenv("TMPDIR", place_.path().c_str(), 1); }
  ~PrivateDirectories() override { ::unsetenv("TMPDIR"); }

  static BoxIds own_ids() {
    BoxIds ids;
    ids.host_uid = ::geteuid();
    ids.host_gid = ::getegid();
    return ids;
  }
  static PrivateDirectory make(const std::string& name) {
    auto made = PrivateDirectory::make(name, own_ids());
    EXPECT_TRUE(made) << (made ? "" : made.error().message());
    return *std::move(made);
  }
  static void remove(PrivateDirectory& directory) {
    for (int i = 0; i < 10'000; ++i) {
      const auto gone = directory.remove_for(std::chrono::milliseconds(2));
      ASSERT_TRUE(gone) << gone.error().message();
      if (*gone) return;
    }
    FAIL() << "it does not end";
  }

  test::TemporaryDirectory place_;
};

TEST_F(PrivateDirectories, AreTheirOwnersAlone) {
  PrivateDirectory directory = make("sup_a.1");
  struct stat info = {};
  ASSERT_EQ(::stat(directory.path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0700U);
  EXPECT_FALSE(PrivateDirectory::make("sup_a.1", own_ids()));  // somebody's already
  remove(directory);
  EXPECT_FALSE(fs::exists(directory.path()));
}

TEST_F(PrivateDirectories, GoWhateverIsInThem) {
  PrivateDirectory directory = make("sup_a.1");
  const std::string outside = place_.path() + "/outside";
  ASSERT_EQ(::mkdir(outside.c_str(), 0755), 0);
  const fs::path root = directory.path();
  // Deeper than any path may be long.
  int at = ::open(root.c_str(), O_PATH | O_CLOEXEC);
  const std::string name(200, 'd');
  for (int depth = 0; depth < 100; ++depth) {
    ASSERT_EQ(::mkdirat(at, name.c_str(), 0755), 0);
    const int next = ::openat(at, name.c_str(), O_PATH | O_CLOEXEC);
    ::close(at);
    at = next;
  }
  ::close(at);
  for (int i = 0; i < 3000; ++i) {
    ::close(::open((root / ("f" + std::to_string(i))).c_str(), O_CREAT | O_WRONLY, 0));
  }
  fs::create_directories(root / "closed/inner");
  fs::create_symlink(outside, root / "closed/inner/link");
  fs::create_symlink(outside, root / "link");
  ASSERT_EQ(::mkfifo((root / "closed/fifo").c_str(), 0600), 0);
  ASSERT_EQ(::chmod((root / "closed/inner").c_str(), 0), 0);
  ASSERT_EQ(::chmod((root / "closed").c_str(), 0), 0);
  ASSERT_EQ(::chmod(root.c_str(), 0), 0);
  remove(directory);
  EXPECT_FALSE(fs::exists(root));
  EXPECT_TRUE(fs::exists(outside));  // what a link leads to stays
}

TEST_F(PrivateDirectories, GoWithTheirObject) {
  std::string path;
  {
    PrivateDirectory directory = make("sup_a.1");
    path = directory.path();
    fs::create_directories(path + "/a/b/c");
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(PrivateDirectories, OfTheDeadAreSweptAndThoseOfTheLivingStay) {
  const std::string locks = place_.path() + "/locks";
  const auto living = StateLock::acquire(locks, "sup_living");
  {
    auto dead = StateLock::acquire(locks, "sup_dead");
    ASSERT_TRUE(living && dead) << dead.error().message();
    dead->leave();
  }
  const std::string base = place_.path() + "/wardcase-";
  for (const char* name : {"sup_living.1", "sup_dead.1", "sup_dead.2", "sup_unknown.1", "notes"}) {
    fs::create_directories(base + name + "/box");
  }
  std::set<std::string> unfinished;
  sweep_private_directories(locks, &unfinished);
  EXPECT_TRUE(unfinished.empty());
  EXPECT_TRUE(fs::exists(base + "sup_living.1"));
  EXPECT_FALSE(fs::exists(base + "sup_dead.1"));
  EXPECT_FALSE(fs::exists(base + "sup_dead.2"));
  EXPECT_TRUE(fs::exists(base + "sup_unknown.1"));  // it may be another container's
  EXPECT_TRUE(fs::exists(base + "notes"));
  EXPECT_TRUE(fs::exists(locks + "/sup_dead"));  // for the sweep of its control groups
}

// The names in /tmp are everybody's to see and to make.
TEST_F(PrivateDirectories, OfOthersThatBearADeadOnesNameAreNotSwept) {
  const std::string locks = place_.path() + "/locks";
  auto dead = StateLock::acquire(locks, "sup_dead");
  ASSERT_TRUE(dead);
  dead->leave();
  dead = StateLock::acquire(locks, "sup_living");  // lets the dead one's go
  constexpr uid_t kOther = 12'345;
  const std::string base = place_.path() + "/wardcase-sup_dead.";
  for (const char* name : {"1", "2", "3"}) fs::create_directories(base + name + "/box");
  const bool is_root = ::geteuid() == 0;  // who alone can be held up by others
  if (is_root) {
    ASSERT_EQ(::chown((base + "2").c_str(), kOther, kOther), 0);
    ASSERT_EQ(::chown((base + "3").c_str(), IdLease::kPoolFirst, IdLease::kPoolFirst), 0);
  }
  std::set<std::string> unfinished;
  sweep_private_directories(locks, &unfinished);
  EXPECT_TRUE(unfinished.empty());
  EXPECT_FALSE(fs::exists(base + "1"));
  EXPECT_EQ(fs::exists(base + "2"), is_root);
  EXPECT_FALSE(fs::exists(base + "3"));
}

}  // namespace
}  // namespace wardcase::sandbox
