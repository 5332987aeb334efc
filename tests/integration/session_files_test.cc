// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Files of a session, from outside of it.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <filesystem>

#include "tests/support/sessions.h"

namespace wardcase::test {
namespace {

using SessionFiles = WithSession;
WARDCASE_AS_ROOT_AND_USER(SessionFiles);

TEST_P(SessionFiles, GoInAndOut) {
  make();
  const ScratchDirectory files(caller());
  const std::string bytes = std::string("a\0b\n", 4) + std::string(300'000, 'x');
  const std::string from = files.write("data", bytes);
  const std::string to = files.path() / "back";
  EXPECT_EQ(call({"cp", from, id() + ":"}).exit_code, 0);
  EXPECT_EQ(python_in("open('data', 'ab').write(b'more')").status(), "exited");
  EXPECT_EQ(call({"cp", id() + ":/box/data", to}).exit_code, 0);
  EXPECT_EQ(read_file(to), bytes + "more");
  EXPECT_EQ(call({"ls", id()}).out(), "data\n");
  EXPECT_EQ(command({"cp", "-", id() + ":typed"}).input("typed").finish().exit_code, 0);
  EXPECT_EQ(call({"cat", id() + ":typed"}).out(), "typed");
}

TEST_P(SessionFiles, LeadNowhereElse) {
  make();
  (void)python_in(
      "import os\nos.symlink('/etc/passwd', 'link')\nos.mkfifo('fifo')\nos.mkdir('dir')\n"
      "os.symlink('/etc', 'etc')");
  const ScratchDirectory files(caller());
  const std::string from = files.write("data", "data");
  for (const char* name :
       {"link", "fifo", "dir", "etc/passwd", "../etc/passwd", "/etc/passwd", "missing"}) {
    const Outcome got = call({"cat", id() + ":" + name});
    EXPECT_EQ(got.exit_code, 125) << name << ": " << got;
    EXPECT_EQ(got.out(), "") << name;
  }
  for (const char* name : {"link", "fifo", "etc/x", "../x", "/etc/x", "missing/x"}) {
    EXPECT_EQ(call({"cp", from, id() + ":" + name}).exit_code, 125) << name;
  }
}

TEST_P(SessionFiles, ACopyThatFailsLeavesWhatWasThere) {
  make({"--disk", "8m"});
  (void)python_in("open('kept', 'w').write('kept')");
  const ScratchDirectory files(caller());
  const std::string from = files.write("large", std::string(16 << 20, 'x'));
  EXPECT_EQ(call({"cp", from, id() + ":kept"}).exit_code, 125);
  EXPECT_EQ(call({"cat", id() + ":kept"}).out(), "kept");
  EXPECT_EQ(python_in("import os; print(os.listdir('/box'))").out(), "['kept']\n");
}

TEST_P(SessionFiles, AreWrittenThroughLinksAndToDevicesThatStay) {
  make();
  (void)python_in("open('file', 'w').write('bytes')");
  const ScratchDirectory files(caller());
  const std::string target = files.write("target", "before");
  const std::string link = (files.path() / "link").string();
  std::filesystem::create_symlink(target, link);
  EXPECT_EQ(call({"cp", id() + ":file", link}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(read_file(target), "bytes");
  // A node beside the host's own, should it be replaced all the same.
  const std::string device = is_root() ? (files.path() / "null").string() : "/dev/null";
  if (is_root()) {
    ASSERT_EQ(::mknod(device.c_str(), S_IFCHR | 0666, makedev(1, 3)), 0);
  }
  EXPECT_EQ(call({"cp", id() + ":file", device}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_character_file(device));
}

}  // namespace
}  // namespace wardcase::test
