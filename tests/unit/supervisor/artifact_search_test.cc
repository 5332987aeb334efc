// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/artifact_search.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sandbox/sys/files.h"
#include "supervisor/languages/out_directory.h"
#include "tests/unit/sandbox/temporary_directory.h"
#include "tests/unit/supervisor/loop.h"

namespace wardcase::supervisor {
namespace {

namespace fs = std::filesystem;

class AnArtifactSearch : public testing::Test {
 protected:
  AnArtifactSearch() : loop_(test::make_loop()) {
    box_ = *sys::open_at(AT_FDCWD, top().c_str(), O_RDONLY | O_DIRECTORY);
    make({});
  }
  void make(const ArtifactLimits& limits) {
    search_ = std::make_unique<ArtifactSearch>(loop_, ClosedDirectories::open, limits);
  }
  [[nodiscard]] fs::path top() const { return directory_.path(); }
  void write(const fs::path& name, std::string_view text) const {
    std::ofstream(top() / name, std::ios::binary) << text;
  }
  bool remember() {
    bool could = false;
    search_->remember(box_.get(), [&](bool all) {
      could = all;
      loop_.stop();
    });
    EXPECT_TRUE(loop_.run());
    return could;
  }
  FoundArtifacts search(const OutDirectory* out = nullptr) {
    FoundArtifacts found;
    search_->search(box_.get(), out, [&](FoundArtifacts all) {
      found = std::move(all);
      loop_.stop();
    });
    EXPECT_TRUE(loop_.run());
    return found;
  }
  std::string paths() {
    std::string text;
    for (const Artifact& artifact : search().files) text += artifact.path + " ";
    return text;
  }
  void know(const std::string& name, std::string_view content) {
    const fs::path copy = fs::path(other_.path()) / "copy";
    std::ofstream(copy, std::ios::binary) << content;
    search_->know(name, *sys::open_at(AT_FDCWD, copy.c_str(), O_RDONLY));
    fs::remove(copy);
  }
  [[nodiscard]] int box() const { return box_.get(); }
  [[nodiscard]] ArtifactSearch& it() { return *search_; }
  [[nodiscard]] EventLoop& loop() { return loop_; }
  [[nodiscard]] fs::path elsewhere() const { return other_.path(); }

 private:
  const test::TemporaryDirectory directory_;
  const test::TemporaryDirectory other_;
  EventLoop loop_;
  sys::UniqueFd box_;
  std::unique_ptr<ArtifactSearch> search_;
};

TEST_F(AnArtifactSearch, ComparesWhatIsKnownByItsContent) {
  const std::string large(300'000, 'x');
  know("same", large);
  know("longer", large);
  know("shorter", large);
  know("other", large);
  know("empty", "");
  know("emptied", "x");
  write("same", large);
  write("longer", large + "x");
  write("shorter", large.substr(1));
  write("other", large.substr(1) + "y");
  write("empty", "");
  write("emptied", "");
  EXPECT_EQ(paths(), "emptied longer other shorter ");
}

TEST_F(AnArtifactSearch, WhatIsKnownMayBeLargerThanWhatIsRead) {
  make({.file_bytes = 10});
  know("same", "more than ten bytes");
  know("changed", "more than ten bytes");
  write("same", "more than ten bytes");
  write("changed", "more than ten BYTES");
  const FoundArtifacts found = search();
  EXPECT_TRUE(found.files.empty());
  EXPECT_EQ(found.left_out,
            "not among the artifacts: 'changed' (19 bytes, a file may have 10 bytes)");
}

TEST_F(AnArtifactSearch, RemembersNamesAndTimesOfWhatIsThere) {
  fs::create_directories(top() / "a/b");
  write("a/b/same", "x");
  write("a/moved", "x");
  write("touched", "x");
  ASSERT_TRUE(remember());
  EXPECT_EQ(paths(), "");
  fs::rename(top() / "a/moved", top() / "there");
  const timespec times[2] = {{.tv_sec = 1, .tv_nsec = 0}, {.tv_sec = 1, .tv_nsec = 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (top() / "touched").c_str(), times, 0), 0);
  EXPECT_EQ(paths(), "there touched ");
  ASSERT_TRUE(remember());
  EXPECT_EQ(paths(), "");
}

TEST_F(AnArtifactSearch, SaysWhereItCantRememberAll) {
  make({.names = 3});
  for (const char* name : {"a", "b", "c"}) write(name, "");
  EXPECT_TRUE(remember());
  write("d", "");
  EXPECT_FALSE(remember());
}

TEST_F(AnArtifactSearch, TakesNoMoreThanItsLimits) {
  make({.files = 2, .file_bytes = 10, .bytes = 15});
  for (const char* name : {"a", "b", "c", "d"}) write(name, "0123456789");
  FoundArtifacts found = search();
  EXPECT_EQ(found.files.size(), 1U);
  EXPECT_NE(found.left_out.find("and 2 more"), std::string::npos) << found.left_out;

  make({.names = 2});
  found = search();
  EXPECT_EQ(found.files.size(), 2U);
  EXPECT_EQ(found.left_out, "not among the artifacts: what came after the first 2 names");

  make({.time = std::chrono::milliseconds(0)});
  found = search();
  EXPECT_TRUE(found.files.empty());
  EXPECT_NE(found.left_out, "");
}

TEST_F(AnArtifactSearch, OpensAndFollowsNothingButRegularFilesWithOneName) {
  write("file", "x");
  write("one", "x");
  fs::create_hard_link(top() / "one", top() / "two");
  fs::create_symlink("/etc/passwd", top() / "link");
  fs::create_symlink("/etc", top() / "directory");
  fs::create_symlink(".", top() / "loop");
  ASSERT_EQ(::mkfifo((top() / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(paths(), "file ");
}

// Between the look and the opening: the listing is over before anything is read.
TEST_F(AnArtifactSearch, WhatIsPutInThePlaceOfAFileIsNotRead) {
  std::ofstream(elsewhere() / "secret") << "precious";
  fs::create_directories(top() / "sub");
  for (int i = 0; i < 40; ++i) write("sub/" + std::to_string(i), std::string(1 << 20, 'x'));
  write("first", "x");
  write("zlast", "x");
  std::vector<Artifact> files;
  it().search(box(), nullptr, [&](const FoundArtifacts& found) {
    files = found.files;
    loop().stop();
  });
  // After the first slice all is listed, and not all is read.
  loop().post([&] {
    fs::rename(top() / "sub", top() / "away");
    fs::create_directory_symlink(elsewhere(), top() / "sub");
    for (int i = 0; i < 40; ++i) std::ofstream(elsewhere() / std::to_string(i)) << "precious";
  });
  ASSERT_TRUE(loop().run());
  EXPECT_LT(files.size(), 42U) << "all was read before anything was replaced";
  for (const Artifact& artifact : files) {
    EXPECT_EQ(artifact.size, artifact.path.starts_with("sub/") ? 1U << 20U : 1U) << artifact.path;
  }
}

TEST_F(AnArtifactSearch, CopiesWhatItFinds) {
  fs::create_directories(top() / "a");
  write("a/file", "text");
  const auto out = OutDirectory::open(elsewhere() / "out");
  ASSERT_TRUE(out);
  const FoundArtifacts found = search(&*out);
  EXPECT_TRUE(found.brought);
  EXPECT_EQ(fs::file_size(elsewhere() / "out/a/file"), 4U);
}

TEST_F(AnArtifactSearch, OneThatCantBeCopiedIsToldAndTheOthersAre) {
  write("blocked", "text");
  write("file", "text");
  fs::create_directories(elsewhere() / "out/blocked");
  const auto out = OutDirectory::open(elsewhere() / "out");
  ASSERT_TRUE(out);
  const FoundArtifacts found = search(&*out);
  EXPECT_EQ(found.files.size(), 2U);
  ASSERT_FALSE(found.brought);
  EXPECT_NE(found.brought.error().what.find("out/blocked"), std::string::npos);
  EXPECT_TRUE(fs::is_regular_file(elsewhere() / "out/file"));
}

TEST_F(AnArtifactSearch, RemembersWhatASearchHasSeen) {
  it().remember_searches();
  write("a", "1");
  fs::create_directory(top() / "d");
  write("d/b", "1");
  EXPECT_EQ(paths(), "a d/b ");
  EXPECT_EQ(paths(), "");
  write("a", "22");
  fs::rename(top() / "d", top() / "e");
  EXPECT_EQ(paths(), "a e/b ");
  fs::remove(top() / "a");
  EXPECT_EQ(paths(), "");
}

// The times of the file are often the same all along.
TEST_F(AnArtifactSearch, TellsAChangeRightAfterASearchByItsContent) {
  it().remember_searches();
  for (int i = 0; i < 50; ++i) {
    const int file = ::open((top() / "a").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    ASSERT_EQ(::pwrite(file, std::to_string(i % 10).data(), 1, 0), 1);
    ::close(file);
    ASSERT_EQ(paths(), "a ") << i;
    ASSERT_EQ(paths(), "") << i;
  }
}

TEST_F(AnArtifactSearch, TakesAFileThatIsRememberedAsItIs) {
  it().remember_searches();
  write("a", "1");
  struct stat info = {};
  ASSERT_EQ(::stat((top() / "a").c_str(), &info), 0);
  it().remember_file("a", info);
  EXPECT_EQ(paths(), "");
  write("a", "22");
  EXPECT_EQ(paths(), "a ");
}

TEST_F(AnArtifactSearch, ForgetsNothingThatItCouldNotLookAt) {
  ArtifactLimits limits;
  limits.files = 1;
  make(limits);
  it().remember_searches();
  write("a", "1");
  write("b", "1");
  const FoundArtifacts found = search();
  EXPECT_EQ(found.files.size(), 1U);
  EXPECT_NE(found.left_out, "");
  EXPECT_EQ(paths(), "");
}

TEST_F(AnArtifactSearch, LeavesOutFilesOfOursThatAreNotWholeWhereWeWriteThem) {
  write(".wardcase-x", "1");
  fs::create_directory(top() / "d");
  write("d/.wardcase-x", "1");
  write("d/wardcase-x", "1");
  EXPECT_EQ(paths(), ".wardcase-x d/.wardcase-x d/wardcase-x ");
  it().remember_searches();
  EXPECT_EQ(paths(), "d/wardcase-x ");
}

}  // namespace
}  // namespace wardcase::supervisor
