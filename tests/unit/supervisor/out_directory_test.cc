// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/out_directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/unit/sandbox/temporary_directory.h"

namespace wardcase::supervisor {
namespace {

namespace fs = std::filesystem;

class AnOutDirectory : public testing::Test {
 protected:
  [[nodiscard]] fs::path top() const { return directory_.path(); }
  [[nodiscard]] fs::path out() const { return top() / "out"; }

  // "": the file is there.
  [[nodiscard]] std::string bring(const std::string& path, std::string_view text) const {
    auto directory = OutDirectory::open(out());
    if (!directory) return directory.error().message();
    auto file = directory->begin(path, /*is_executable=*/false);
    if (!file) return file.error().message();
    if (auto written = file->write(text); !written) return written.error().message();
    const auto finished = file->finish();
    return finished ? "" : finished.error().message();
  }
  [[nodiscard]] static std::string read(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  [[nodiscard]] int entries() const {
    int count = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(out())) ++count;
    return count;
  }

 private:
  const test::TemporaryDirectory directory_;
};

TEST_F(AnOutDirectory, IsMadeWithTheDirectoriesInIt) {
  EXPECT_EQ(bring("a/b/c", "text"), "");
  EXPECT_EQ(read(out() / "a/b/c"), "text");
  EXPECT_EQ(bring("a/b/c", "new"), "");
  EXPECT_EQ(read(out() / "a/b/c"), "new");
  struct stat info = {};
  ASSERT_EQ(::stat(out().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 022U, 0U);
}

TEST_F(AnOutDirectory, FollowsNoLink) {
  fs::create_directories(out());
  fs::create_directories(top() / "elsewhere");
  std::ofstream(top() / "elsewhere/victim") << "precious";
  fs::create_symlink(top() / "elsewhere", out() / "up");
  fs::create_symlink(top() / "elsewhere/victim", out() / "link");
  fs::create_symlink(top() / "elsewhere/new", out() / "dangling");
  EXPECT_NE(bring("up/victim", "bad").find("is there and not a directory"), std::string::npos);
  EXPECT_NE(bring("link", "bad").find("is there and not a regular file"), std::string::npos);
  EXPECT_NE(bring("dangling", "bad").find("is there and not a regular file"), std::string::npos);
  EXPECT_EQ(read(top() / "elsewhere/victim"), "precious");
  EXPECT_FALSE(fs::exists(top() / "elsewhere/new"));
}

TEST_F(AnOutDirectory, ReplacesRegularFilesOnlyAndWithoutWritingIntoThem) {
  fs::create_directories(out() / "directory");
  std::ofstream(out() / "file") << "old";
  fs::create_hard_link(out() / "file", top() / "other name");
  ASSERT_EQ(::mkfifo((out() / "fifo").c_str(), 0600), 0);
  EXPECT_NE(bring("directory", "bad").find("is there and not a regular file"), std::string::npos);
  EXPECT_NE(bring("fifo", "bad").find("is there and not a regular file"), std::string::npos);
  EXPECT_NE(bring("file/in it", "bad").find("is there and not a directory"), std::string::npos);
  EXPECT_EQ(bring("file", "new"), "");
  EXPECT_EQ(read(out() / "file"), "new");
  EXPECT_EQ(read(top() / "other name"), "old");
  EXPECT_EQ(entries(), 3);  // nothing on its way was left
}

TEST_F(AnOutDirectory, KeepsNothingOfAFileThatWasNotFinished) {
  {
    auto directory = OutDirectory::open(out());
    ASSERT_TRUE(directory);
    auto file = directory->begin("file", /*is_executable=*/false);
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->write("half"));
    EXPECT_EQ(entries(), 1);
  }
  EXPECT_EQ(entries(), 0);
}

TEST_F(AnOutDirectory, IsRefusedWhereItCantBe) {
  std::ofstream(out()) << "a file";
  EXPECT_NE(bring("a", "b"), "");
  EXPECT_FALSE(OutDirectory::open(top() / "missing/out"));
}

}  // namespace
}  // namespace wardcase::supervisor
