// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/compiled_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "tests/unit/sandbox/temporary_directory.h"

namespace wardcase::supervisor {
namespace {

namespace fs = std::filesystem;

class CompiledFile : public testing::Test {
 protected:
  CompiledFile() : fd_(::open(box().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}

  [[nodiscard]] std::string box() const { return directory_.path(); }
  [[nodiscard]] bool is_taken(const std::string& name) const {
    return copy_compiled(fd_.get(), name, "").has_value();
  }
  void write(const std::string& name, std::string_view text) const {
    std::ofstream(box() + "/" + name) << text;
  }

  test::TemporaryDirectory directory_;
  sys::UniqueFd fd_;
};

TEST_F(CompiledFile, IsCopiedToAFileOrIntoMemory) {
  write("made", "program");
  for (const std::string& path : {std::string(), box() + "/copy"}) {
    const auto copy = copy_compiled(fd_.get(), "made", path);
    ASSERT_TRUE(copy);
    std::array<char, 16> text;
    EXPECT_EQ(::pread(copy->get(), text.data(), text.size(), 0), 7);
    EXPECT_EQ(std::string_view(text.data(), 7), "program");
  }
  struct stat info = {};
  ASSERT_EQ(::stat((box() + "/copy").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0555U);
  EXPECT_FALSE(copy_compiled(fd_.get(), "made", box() + "/copy")) << "it is there already";
}

TEST_F(CompiledFile, OnlyARegularFileOfOneNameIsTaken) {
  write("made", "program");
  ASSERT_EQ(::mkfifo((box() + "/fifo").c_str(), 0600), 0);
  fs::create_symlink("made", box() + "/link");
  fs::create_directory(box() + "/directory");
  EXPECT_TRUE(is_taken("made"));
  for (const char* name :
       {"fifo", "link", "directory", "missing", "../etc/passwd", "/etc/passwd"}) {
    EXPECT_FALSE(is_taken(name)) << name;
  }
  fs::create_hard_link(box() + "/made", box() + "/other");
  EXPECT_FALSE(is_taken("made"));
}

TEST_F(CompiledFile, OneThatIsTooLargeIsNotTaken) {
  write("made", "program");
  fs::resize_file(box() + "/made", kMaxCompiledBytes + 1);
  EXPECT_FALSE(is_taken("made"));
}

TEST_F(CompiledFile, AProgramThatIsExchangedIsAnother) {
  write("gcc", "one");
  const auto before = identity_of(box() + "/gcc");
  ASSERT_TRUE(before);
  EXPECT_EQ(identity_of(box() + "/gcc").value(), *before);
  fs::create_symlink("gcc", box() + "/cc");
  EXPECT_EQ(identity_of(box() + "/cc").value(), *before) << "by another name";
  write("new", "two");
  fs::rename(box() + "/new", box() + "/gcc");
  EXPECT_NE(identity_of(box() + "/gcc").value(), *before);
  EXPECT_FALSE(identity_of(box() + "/none"));
}

}  // namespace
}  // namespace wardcase::supervisor
