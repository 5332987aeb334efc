// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// What a program of a session leaves in /box, which lives on, and so may other processes in it.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/sessions.h"

namespace wardcase::test {
namespace {

namespace fs = std::filesystem;

class SessionArtifacts : public WithSession {
 protected:
  // The paths of a record's artifacts, a line each.
  static std::string paths(const Record& record) {
    std::string text;
    for (int i = 0; record.has("artifacts." + std::to_string(i)); ++i) {
      text += record.text("artifacts." + std::to_string(i) + ".path") + "\n";
    }
    return text;
  }
  [[nodiscard]] std::string left_by(const std::string& code) const {
    const Record record = record_in("bash", code);
    EXPECT_EQ(record.status(), "exited") << record;
    return paths(record);
  }
};
WARDCASE_AS_ROOT_AND_USER(SessionArtifacts);

TEST_P(SessionArtifacts, AreWhatItsOwnProgramMadeOrChanged) {
  make();
  EXPECT_EQ(left_by("mkdir sub; printf abc > sub/first; printf abc > same"), "same\nsub/first\n");
  EXPECT_EQ(left_by("cat same"), "");
  EXPECT_EQ(left_by("printf abd > same; mv sub/first sub/moved; : > new"),
            "new\nsame\nsub/moved\n");
  EXPECT_EQ(left_by("rm new same"), "");
}

TEST_P(SessionArtifacts, HaveTheirSizeKindAndSum) {
  make();
  const Record record = python_in("open('data.csv', 'w').write('abc')");
  EXPECT_EQ(record.text("artifacts.0.path"), "data.csv") << record;
  EXPECT_EQ(record.number("artifacts.0.size"), 3);
  EXPECT_EQ(record.text("artifacts.0.mime"), "text/csv");
  EXPECT_EQ(record.text("artifacts.0.sha256"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

// One after the other without a pause: the times of the file may be the same all along.
TEST_P(SessionArtifacts, AreToldHoweverQuicklyTheyChange) {
  make();
  std::vector<Running> programs;
  programs.push_back(exec("bash", "until [[ -e go ]]; do sleep 0.1; done", {"--json"}).start());
  ASSERT_TRUE(is_running_soon());
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(eventually([&] { return state().number("queued") == i; }));
    programs.push_back(exec("bash", "printf " + std::to_string(i) + " > file", {"--json"}).start());
  }
  ASSERT_TRUE(eventually([&] { return state().number("queued") == 8; }));
  const ScratchDirectory files(caller());
  ASSERT_EQ(call({"cp", files.write("go", ""), id() + ":"}).exit_code, 0);
  EXPECT_EQ(paths(programs[0].finish().record()), "");
  for (int i = 1; i <= 8; ++i) {
    const Record record = programs[static_cast<std::size_t>(i)].finish().record();
    EXPECT_EQ(paths(record), "file\n") << record;
  }
}

TEST_P(SessionArtifacts, AreNotWhatWasPutThereFromOutside) {
  make();
  const ScratchDirectory files(caller());
  const std::string from = files.write("data", "data");
  ASSERT_EQ(call({"cp", from, id() + ":first"}).exit_code, 0);
  EXPECT_EQ(left_by("mkdir sub; cat first"), "");
  ASSERT_EQ(call({"cp", from, id() + ":/box/sub/"}).exit_code, 0);
  ASSERT_EQ(call({"cp", from, id() + ":./sub//other"}).exit_code, 0);
  EXPECT_EQ(left_by("cat sub/data sub/other"), "");
  EXPECT_EQ(left_by("echo changed >> sub/data"), "sub/data\n");
}

TEST_P(SessionArtifacts, ComeWithAFailureAndWithAnInterpretersEndAsWell) {
  make();
  EXPECT_EQ(paths(python_in("open('failed', 'w').close()\nraise ValueError")), "failed\n");
  EXPECT_EQ(paths(python_in("open('left', 'w').close()\nimport sys\nsys.exit(3)")), "left\n");
  EXPECT_EQ(paths(python_in("open('late', 'w').close()\nwhile True: pass", {"--timeout", "1s"})),
            "late\n");
  EXPECT_EQ(paths(python_in("1")), "");
}

TEST_P(SessionArtifacts, AreEventsToo) {
  make();
  const Outcome outcome = exec("bash", "printf abc > file", {"--events"}).finish();
  EXPECT_NE(outcome.out().find("\"type\":\"artifact\",\"path\":\"file\""), std::string::npos)
      << outcome;
}

TEST_P(SessionArtifacts, OfAWorkspaceAreWhatIsNewThere) {
  const ScratchDirectory files(caller());
  (void)files.write("same", "abc");
  (void)files.write("changed", "abc");
  make({"-v", files.path().string() + ":/box:rw"});
  EXPECT_EQ(left_by("cat same; printf abd > changed; : > new"), "changed\nnew\n");
  EXPECT_EQ(left_by("cat same"), "");
  EXPECT_EQ(call({"session", "reset", id()}).exit_code, 0);
  EXPECT_EQ(left_by("mv same there"), "there\n");
}

TEST_P(SessionArtifacts, OfAWorkspaceThatIsOnlyReadAreNone) {
  const ScratchDirectory files(caller());
  (void)files.write("same", "abc");
  make({"-v", files.path().string() + ":/box"});
  EXPECT_EQ(left_by("cat same"), "");
}

TEST_P(SessionArtifacts, AreNotWhatIsMountedBelowTheBox) {
  const ScratchDirectory files(caller());
  const std::string data = files.write("data", "abc");
  make({"-v", data + ":/box/data", "-v", files.path().string() + ":/box/here:rw"});
  EXPECT_EQ(left_by("cat data; : > here/new"), "");
}

TEST_P(SessionArtifacts, BeyondTheirBoundsAreLeftOutAndTold) {
  make({"--file-size", "6g"});
  const Record record = python_in(
      "import os\n"
      "os.truncate(os.open('sparse', os.O_CREAT | os.O_WRONLY), 5 << 30)\n"
      "for i in range(300): open(f'file-{i:03}', 'w').close()\n");
  EXPECT_NE(record.text("hint").find("not among the artifacts: "), std::string::npos) << record;
  EXPECT_TRUE(record.has("artifacts.255")) << record;
  EXPECT_FALSE(record.has("artifacts.256")) << record;
  EXPECT_EQ(paths(python_in("1")), "");
}

TEST_P(SessionArtifacts, AreNotWhatIsNoRegularFileOfItsOwn) {
  make();
  const Record record = python_in(
      "import os, socket\n"
      "os.symlink('/etc/passwd', 'link')\n"
      "os.symlink('/etc', 'directory')\n"
      "os.mkfifo('fifo')\n"
      "socket.socket(socket.AF_UNIX).bind('socket')\n"
      "open('one', 'w').close()\n"
      "os.link('one', 'two')\n");
  EXPECT_EQ(paths(record), "") << record;
}

// The attack: what has just been seen as a file becomes a link out of the box, a FIFO that nobody
// writes to, a directory, and a file again, while others ask for the artifacts.
constexpr const char* kSwaps =
    "import os, subprocess, sys\n"
    "swapper = '''\n"
    "import os\n"
    "print('armed', flush=True)\n"
    "os.mkdir('deep')\n"
    "while True:\n"
    "    for i in range(40):\n"
    "        name, new = f'swap-{i}', f'new-{i}'\n"
    "        open(new, 'w').write('mine')\n"
    "        os.rename(new, name)\n"
    "        os.symlink('/etc/hostname', new)\n"
    "        os.rename(new, name)\n"
    "        os.mkfifo(new)\n"
    "        os.rename(new, name)\n"
    "        os.unlink(name)\n"
    "        os.rename('deep', name)\n"
    "        open(name + '/hostname', 'w').write('mine')\n"
    "        os.rename(name, 'gone')\n"
    "        os.symlink('/etc', name)\n"
    "        os.unlink('gone/hostname')\n"
    "        os.rename('gone', 'deep')\n"
    "        os.unlink(name)\n"
    "'''\n"
    "process = subprocess.Popen([sys.executable, '-c', swapper], stdout=subprocess.PIPE)\n"
    "print(process.stdout.readline())\n";

TEST_P(SessionArtifacts, AreFilesOfTheBoxWhoeverSwapsThemMeanwhile) {
  make();
  ASSERT_NE(python_in(kSwaps).out().find("armed"), std::string::npos);
  // As `printf mine | sha256sum` has it, and that of nothing.
  const std::string mine = "3fd30542fe3f61b14bd4a4b2dc0b6fb30fa6f63ebce52dd1778aaa8c4dc02cff";
  const std::string empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  int found = 0;
  for (int round = 0; round < 60; ++round) {
    const Record record = record_in("bash", ":", {"--timeout", "30s"});
    ASSERT_EQ(record.status(), "exited") << record;
    for (int i = 0; record.has("artifacts." + std::to_string(i)); ++i) {
      const std::string sum = record.text("artifacts." + std::to_string(i) + ".sha256");
      EXPECT_TRUE(sum == mine || sum == empty) << record;
      ++found;
    }
  }
  EXPECT_GT(found, 0);
}

TEST_P(SessionArtifacts, OfABoxThatEndsMeanwhileAreNone) {
  make();
  Running busy = exec("bash", "head -c 60m /dev/zero > large; echo made").start();
  ASSERT_TRUE(busy.wait_for(Channel::out, "made"));
  EXPECT_EQ(call({"session", "rm", id()}).exit_code, 0);
  (void)busy.finish();
  EXPECT_TRUE(eventually([] { return list_descendants().empty(); })) << list_descendants();
}

}  // namespace
}  // namespace wardcase::test
