// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Files that a program leaves for us to stumble over: where it can write, the caller
// reads its program, saves its output and has his mounts.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/hostile_test.h"

namespace wardcase::test {
namespace {

namespace fs = std::filesystem;

class HostileFiles : public HostileTest {
 protected:
  HostileFiles() : work_(caller()), host_(caller()) {}
  [[nodiscard]] std::string workspace() const { return work_.path().string() + ":rw"; }
  // A link as a program of an earlier run would leave it; its path.
  [[nodiscard]] std::string plant(const std::string& name, const fs::path& target) const {
    const fs::path link = work_.path() / name;
    fs::create_symlink(target, link);
    return link.string();
  }
  static void expect_refused(const Outcome& outcome, const std::string& link) {
    EXPECT_EQ(outcome.exit_code, 125) << outcome;
    EXPECT_TRUE(has_text(outcome.err(), "'" + link + "' is a link out of a directory")) << outcome;
  }

  const ScratchDirectory work_;
  const ScratchDirectory host_;
};
WARDCASE_AS_ROOT_AND_USER(HostileFiles);

constexpr const char* kLinks = "no link is followed out of what the program may write to";

TEST_P(HostileFiles, ALinkInPlaceOfTheProgramShowsNoFileOfTheHost) {
  declare_attack("put a link to a file of the host in the program's place", kLinks);
  const std::string link = plant("main.py", host_.write("secret.py", "print('of the host')"));
  const Outcome outcome = run({"--workspace", workspace(), link});
  expect_refused(outcome, link);
  EXPECT_EQ(outcome.out(), "");
  EXPECT_TRUE(control_works(run({link}).out() == "of the host\n"));
}

TEST_P(HostileFiles, ALinkInPlaceOfAMountShowsNoDirectoryOfTheHost) {
  declare_attack("put a link to a directory of the host in a mount's place", kLinks);
  (void)host_.write("secret", "of the host\n");
  const std::string link = plant("data", host_.path());
  const auto read_it = [&](std::vector<std::string> flags) {
    flags.insert(flags.end(), {"-v", link + ":/data", "--", "cat", "/data/secret"});
    return run(std::move(flags));
  };
  expect_refused(read_it({"--workspace", workspace()}), link);
  expect_refused(run({"--workspace", workspace(), "-v", link + ":/data:rw", "--", "true"}), link);
  expect_refused(run({"-v", work_.path().string() + ":/out:rw", "--workspace", link, "--", "true"}),
                 link);
  EXPECT_TRUE(control_works(read_it({}).out() == "of the host\n"));
}

TEST_P(HostileFiles, ALinkInPlaceOfSavedOutputWritesNowhereElse) {
  declare_attack("put a link in the way of --save-output", kLinks);
  const std::string link = plant("out", host_.path());
  const auto save = [&](std::vector<std::string> flags) {
    flags.insert(flags.end(), {"--save-output", link, "--", "echo", "chosen by the program"});
    return run(std::move(flags));
  };
  expect_refused(save({"--workspace", workspace()}), link);
  EXPECT_TRUE(fs::is_empty(host_.path()));
  EXPECT_EQ(save({}).exit_code, 0);
  EXPECT_TRUE(control_works(read_file(host_.path() / "stdout") == "chosen by the program\n"));
}

TEST_P(HostileFiles, ALinkInPlaceOfTheMetaFileSpoilsNoFileOfTheHost) {
  declare_attack("put a link in the way of --meta", kLinks);
  const std::string victim = host_.write("victim", "precious");
  const std::string link = plant("meta", victim);
  expect_refused(run({"--workspace", workspace(), "--meta", link, "--", "true"}), link);
  EXPECT_EQ(read_file(victim), "precious");
  EXPECT_EQ(run({"--meta", link, "--", "true"}).exit_code, 0);
  EXPECT_TRUE(control_works(read_file(victim) != "precious"));
}

TEST_P(HostileFiles, LinksThatStayInTheWorkspaceAreFollowed) {
  declare_attack("a link in a directory that itself is a link to the host",
                 "each link on the way is looked at");
  (void)work_.write("real.py", "print('mine')");
  const std::string inside = plant("main.py", "real.py");
  EXPECT_EQ(run({"--workspace", workspace(), inside}).out(), "mine\n");
  (void)host_.write("secret.py", "print('of the host')");
  const std::string link = plant("deep", host_.path());
  const std::string path = link + "/secret.py";
  expect_refused(run({"--workspace", workspace(), path}), link);
  EXPECT_TRUE(control_works(run({path}).out() == "of the host\n"));
}

TEST_P(HostileFiles, AFifoInPlaceOfSavedOutputHoldsNobodyUp) {
  declare_attack("put a FIFO that nobody empties in the way of --save-output",
                 "only regular files are written to");
  const std::string path = (work_.path() / "stdout").string();
  ASSERT_EQ(::mkfifo(path.c_str(), 0666), 0);
  ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
  const sys::UniqueFd reader(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  const Outcome outcome =
      run({"--save-output", work_.path(), "--", "head", "-c", "1M", "/dev/zero"});
  EXPECT_EQ(outcome.exit_code, 125) << outcome;
  const sys::UniqueFd writer(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  const std::string much(1 << 20, 'x');
  EXPECT_TRUE(control_works(::write(writer.get(), much.data(), much.size()) < (1 << 20)));
}

TEST_P(HostileFiles, ANameWithControlCharactersIsShownWithout) {
  declare_attack("a file's name that types into the terminal that shows it",
                 "our own words have no control characters");
  const std::string name = "evil\x1b]0;title\x07\n";
  const std::string tool = work_.write(name, "", 04755);
  ASSERT_EQ(::chmod(tool.c_str(), 04755), 0);  // its giving away took the mode off
  const Outcome outcome = run({"--workspace", workspace(), "--", "true"});
  EXPECT_EQ(outcome.exit_code, 125) << outcome;
  EXPECT_TRUE(has_text(outcome.err(), "evil")) << outcome;
  EXPECT_FALSE(has_text(outcome.err(), "\x1b"));
  EXPECT_FALSE(has_text(outcome.err(), "\x07"));
  const Outcome listed = Command::other(caller(), {"/bin/ls", work_.path().string()}).finish();
  EXPECT_TRUE(control_works(has_text(listed.out(), "\x1b")));
}

constexpr const char* kDig =
    "import os\n"
    "print('armed', flush=True)\n"
    "for i in range(2000): os.mkdir('d'); os.chdir('d')\n"
    "print('dug')";

TEST_P(HostileFiles, ADeepTreeInAWorkspaceIsCountedAndCanBeRemoved) {
  declare_attack("a tree too deep for paths and descriptors, in a workspace",
                 "the watcher climbs by .. and holds one descriptor");
  const auto dig = [&](const std::string& inodes) {
    Command command = run_command(
        {"--json", "--timeout", "20s", "--workspace", workspace(), "-l", "python", "-c", kDig});
    const Record record = command.environment("WARDCASE_DISK_INODES=" + inodes).finish().record();
    const std::string tree = (work_.path() / "d").string();
    EXPECT_EQ(Command::other(caller(), {"/bin/rm", "-rf", tree}).finish().exit_code, 0);
    EXPECT_FALSE(fs::exists(tree));
    return record;
  };
  const Record record = dig("1000");
  EXPECT_EQ(record.out().find("armed\n"), 0U) << record;
  EXPECT_EQ(record.status(), "disk_limit");
  const Record control = dig("10000");
  EXPECT_TRUE(control_works(control.out() == "armed\ndug\n")) << control;
}

TEST_P(HostileFiles, ADeepTreeInTheBoxGoesWithIt) {
  declare_attack("a tree too deep for paths, in the box", "its file system goes with the box");
  no_control("nobody has to remove it");
  const Record record = python(kDig, {"--timeout", "20s"});
  EXPECT_EQ(record.out(), "armed\ndug\n") << record;
  EXPECT_EQ(record.status(), "exited");
}

// FS_IOC_SETFLAGS with FS_IMMUTABLE_FL, and without.
constexpr const char* kMakeFast =
    "import fcntl, os, struct, sys\n"
    "print('armed', flush=True)\n"
    "fd = os.open(sys.argv[1], os.O_RDONLY)\n"
    "try:\n"
    "    fcntl.ioctl(fd, 0x40086602, struct.pack('l', 0x10))\n"
    "    print('fast')\n"
    "    fcntl.ioctl(fd, 0x40086602, struct.pack('l', 0))\n"
    "except OSError as e: print(e.strerror)";

TEST_P(HostileFiles, NoFileIsMadeImmutable) {
  declare_attack("leave a file that can't be removed", "it takes a capability");
  const std::string file = work_.write("file", "");
  const Record record = record_of(
      {"-v", work_.path().string() + ":/out:rw", "-l", "python", "-c", kMakeFast, "/out/file"});
  EXPECT_EQ(record.out().find("armed\n"), 0U) << record;
  EXPECT_FALSE(has_text(record.out(), "fast")) << record;
  const Outcome outside =
      Command::other(caller(), {"/usr/bin/python3", "-c", kMakeFast, file}).finish();
  if (!has_text(outside.out(), "fast")) return no_control("it is refused outside as well");
  EXPECT_TRUE(control_works(true));
}

}  // namespace
}  // namespace wardcase::test
