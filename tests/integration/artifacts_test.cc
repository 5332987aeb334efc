// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// What a program leaves in /box: told in the record, and brought to a directory.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

namespace fs = std::filesystem;

// As `printf abc | sha256sum` has it.
constexpr const char* kSumOfAbc =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

class Artifacts : public WithCaller {
 protected:
  Artifacts() : place_(caller()) {}
  [[nodiscard]] const ScratchDirectory& place() const { return place_; }
  [[nodiscard]] fs::path out() const { return place_.path() / "out"; }

  // The paths of a record's artifacts, a line each.
  static std::string paths(const Record& record) {
    std::string text;
    for (int i = 0; record.has("artifacts." + std::to_string(i)); ++i) {
      text += record.text("artifacts." + std::to_string(i) + ".path") + "\n";
    }
    return text;
  }
  [[nodiscard]] std::vector<std::string> found_out() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(out())) {
      if (!entry.is_directory()) names.push_back(fs::relative(entry.path(), out()));
    }
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  ScratchDirectory place_;
};
WARDCASE_AS_ROOT_AND_USER(Artifacts);

// T25 of the behaviours.
constexpr const char* kOddFiles = R"(
import os, socket, struct, zlib
def chunk(kind, data):
    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
with open('plot.png', 'wb') as file:
    file.write(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 1, 1, 8, 0, 0, 0, 0))
               + chunk(b'IDAT', zlib.compress(b'\0\0')) + chunk(b'IEND', b''))
os.mkdir('sub')
with open('sub/data.csv', 'w') as file: file.write('a,b\n1,2\n')
os.symlink('/etc/passwd', 'link')
os.symlink('/etc', 'directory')
os.mkfifo('fifo')
socket.socket(socket.AF_UNIX).bind('socket')
os.truncate(os.open('sparse', os.O_CREAT | os.O_WRONLY), 5 << 30)
with open('one', 'w') as file: file.write('x')
os.link('one', 'two')
)";

TEST_P(Artifacts, AreRegularFilesOfTheProgramAndNothingElse) {
  const Record record = python(kOddFiles, {"--file-size", "6g", "--out", out()});
  ASSERT_EQ(record.number("exit_code"), 0) << record;
  EXPECT_EQ(record.out(), "") << record;
  EXPECT_EQ(paths(record), "plot.png\nsub/data.csv\n") << record;
  EXPECT_EQ(record.text("artifacts.0.mime"), "image/png");
  EXPECT_EQ(record.text("artifacts.1.mime"), "text/csv");
  EXPECT_EQ(record.number("artifacts.1.size"), 8);
  EXPECT_NE(record.text("hint").find("not among the artifacts: "), std::string::npos) << record;
  EXPECT_NE(record.text("hint").find(" and 2 more"), std::string::npos) << record;
  EXPECT_EQ(found_out(), (std::vector<std::string>{"plot.png", "sub/data.csv"}));
}

TEST_P(Artifacts, HaveTheirSumAndSize) {
  const Record record = bash("printf abc > file");
  EXPECT_EQ(record.text("artifacts.0.sha256"), kSumOfAbc) << record;
  EXPECT_EQ(record.number("artifacts.0.size"), 3);
  EXPECT_EQ(record.text("artifacts.0.mime"), "application/octet-stream");
}

TEST_P(Artifacts, AreNotWhatWasPutThereAndStaysAsItWas) {
  const std::string data = place().write("data", "abc");
  const std::vector<std::string> files = {"--file", "a=" + data, "--file", "b=" + data,
                                          "--file", "c=" + data, "--file", "d/e=" + data};
  EXPECT_EQ(paths(bash("true", files)), "");
  EXPECT_EQ(paths(bash("touch a; printf abc > b; chmod 600 c; rm d/e", files)), "");
  // Longer, shorter, as long as it was, and under another name.
  EXPECT_EQ(paths(bash("echo d >> a; printf ab > b; printf abd > c; mv d/e d/f", files)),
            "a\nb\nc\nd/f\n");
  EXPECT_EQ(paths(bash("echo changed >> main.sh")), "main.sh\n");
}

TEST_P(Artifacts, AreNotWhatIsMountedBelowTheBox) {
  const std::string data = place().write("data", "abc");
  const Record record =
      bash("ls data here/data && echo > here/new",
           {"-v", data + ":/box/data", "-v", place().path().string() + ":/box/here:rw"});
  ASSERT_EQ(record.number("exit_code"), 0) << record;
  EXPECT_EQ(paths(record), "") << record;
}

TEST_P(Artifacts, OfAWorkspaceAreWhatIsNewThere) {
  (void)place().write("same", "abc");
  (void)place().write("changed", "abc");
  (void)place().write("moved", "abc");
  ASSERT_TRUE(fs::create_directory(place().path() / "before"));
  ASSERT_EQ(::chown((place().path() / "before").c_str(), uid_of(caller()), uid_of(caller())), 0);
  (void)place().write("before/file", "abc");
  const std::string code =
      "cat same; printf abd > changed; mv moved there; mv before after; echo > new; ln -s same "
      "link";
  const Record record = bash(code, {"--workspace", place().path().string() + ":rw"});
  EXPECT_EQ(record.number("exit_code"), 0) << record;
  EXPECT_EQ(paths(record), "after/file\nchanged\nnew\nthere\n") << record;
}

TEST_P(Artifacts, OfAWorkspaceThatIsOnlyReadAreNone) {
  (void)place().write("same", "abc");
  const std::vector<std::string> flags = {"--workspace", place().path()};
  EXPECT_EQ(paths(bash("cat same", flags)), "");
  const Outcome refused = run({"--workspace", place().path(), "--out", out(), "--", "true"});
  EXPECT_EQ(refused.exit_code, 125) << refused;
  EXPECT_NE(refused.err().find("--out"), std::string::npos) << refused;
}

TEST_P(Artifacts, ComeWithoutNamespacesAsWell) {
  if (!has_landlock()) GTEST_SKIP() << "this kernel has no Landlock";
  const Record record = bash("mkdir sub; printf abc > sub/file", {"--policy", "landlock-only"});
  ASSERT_EQ(record.number("exit_code"), 0) << record;
  EXPECT_EQ(paths(record), "sub/file\n") << record;
  EXPECT_EQ(record.text("artifacts.0.sha256"), kSumOfAbc);
}

TEST_P(Artifacts, AreReadHoweverTheProgramClosedThem) {
  const Record record = python(
      "import os\n"
      "os.makedirs('a/b')\n"
      "for name in ('a/b/c', 'd'):\n"
      "    open(name, 'w').write('abc')\n"
      "    os.chmod(name, 0)\n"
      "os.chmod('a/b', 0)\n"
      "os.chmod('a', 0o100)\n"
      "os.chmod('.', 0)\n",
      {"--out", out()});
  ASSERT_EQ(record.number("exit_code"), 0) << record;
  EXPECT_EQ(paths(record), "a/b/c\nd\n") << record;
  EXPECT_EQ(read_file(out() / "a/b/c"), "abc");
}

TEST_P(Artifacts, KeepOddNames) {
  const Record record = python(
      "for name in (b'new\\nline', b'-rf', b'\\xff\\xfe', b'n' * 255, b' ', b'$(reboot)', b'\"',\n"
      "             b'.wardcase-x', b'.hidden'):\n"
      "    open(name, 'w').close()\n",
      {"--out", out()});
  ASSERT_EQ(record.number("exit_code"), 0) << record;
  EXPECT_EQ(paths(record), " \n\"\n$(reboot)\n-rf\n.hidden\n.wardcase-x\nnew\nline\n" +
                               std::string(255, 'n') + "\n\xEF\xBF\xBD\xEF\xBF\xBD\n")
      << record;
  EXPECT_EQ(found_out(),
            (std::vector<std::string>{" ", "\"", "$(reboot)", "-rf", ".hidden", ".wardcase-x",
                                      "new\nline", std::string(255, 'n'), "\xff\xfe"}));
}

TEST_P(Artifacts, AreBoundInNumberAndSize) {
  const Record many = python("for i in range(300): open(f'{i:03}', 'w').close()");
  EXPECT_TRUE(many.has("artifacts.255")) << many;
  EXPECT_FALSE(many.has("artifacts.256"));
  EXPECT_NE(many.text("hint").find("(more than 256 files) and 43 more"), std::string::npos) << many;
  const Record large = python(
      "import os\n"
      "for i, size in enumerate((64 << 20, (64 << 20) + 1, 64 << 20, 64 << 20, 64 << 20, 1)):\n"
      "    os.truncate(os.open(str(i), os.O_CREAT | os.O_WRONLY), size)\n",
      {"--file-size", "1g", "--disk", "1g"});
  ASSERT_EQ(large.number("exit_code"), 0) << large;
  std::int64_t total = 0;
  for (int i = 0; large.has("artifacts." + std::to_string(i)); ++i) {
    total += *large.number("artifacts." + std::to_string(i) + ".size");
  }
  EXPECT_LE(total, 256 << 20) << large;
  EXPECT_NE(large.text("hint").find("a file may have 64 MiB"), std::string::npos) << large;
}

// Deeper than a path can say, and more names than anybody wants to read.
TEST_P(Artifacts, ATreeWithoutEndEndsTheSearchAndNothingElse) {
  const Record deep = python(
      "import os\n"
      "open('first', 'w').close()\n"
      "for i in range(3000):\n"
      "    os.mkdir('d')\n"
      "    os.chdir('d')\n"
      "open('last', 'w').close()\n");
  ASSERT_EQ(deep.number("exit_code"), 0) << deep;
  EXPECT_EQ(paths(deep), "first\n") << deep;
  EXPECT_NE(deep.text("hint").find("the directory 'd/d/"), std::string::npos) << deep;
}

TEST_P(Artifacts, AreToldAsEventsBeforeTheEnd) {
  const Outcome outcome = run({"--events", "-l", "bash", "-c", "printf abc > file.txt; echo hi"});
  const auto at = [&](const std::string& text) { return outcome.out().find(text); };
  EXPECT_NE(at(std::string(R"("type":"artifact","path":"file.txt","size":3,"mime":"text/plain",)") +
               R"("sha256":")" + kSumOfAbc + "\"}\n"),
            std::string::npos)
      << outcome;
  EXPECT_LT(at(R"("type":"stdout")"), at(R"("type":"artifact")"));
  EXPECT_LT(at(R"("type":"artifact")"), at(R"("type":"exit")"));
}

TEST_P(Artifacts, AreBroughtOverOlderOnesWithoutFollowingAnything) {
  ASSERT_TRUE(fs::create_directory(out()));
  ASSERT_EQ(::chown(out().c_str(), uid_of(caller()), uid_of(caller())), 0);
  const std::string victim = place().write("victim", "precious");
  (void)place().write("out/old", "old");
  ASSERT_EQ(::symlink(victim.c_str(), (out() / "link").c_str()), 0);
  ASSERT_EQ(::symlink(place().path().c_str(), (out() / "up").c_str()), 0);
  const auto bring = [&](const std::string& code) {
    return run({"--out", out(), "-l", "bash", "-c", code});
  };
  EXPECT_EQ(bring("printf new > old; printf '#!/bin/sh' > tool; chmod 4755 tool").exit_code, 0);
  EXPECT_EQ(read_file(out() / "old"), "new");
  struct stat tool = {};
  ASSERT_EQ(::stat((out() / "tool").c_str(), &tool), 0);
  EXPECT_EQ(tool.st_mode & 07777U, 0755U);
  EXPECT_EQ(tool.st_uid, uid_of(caller()));

  for (const char* code : {"echo bad > link", "mkdir up; echo bad > up/victim",
                           "mkdir old; echo bad > old/file", "echo bad > directory"}) {
    ASSERT_TRUE(fs::create_directories(out() / "directory/in") || true);
    const Outcome outcome = bring(code);
    EXPECT_EQ(outcome.exit_code, 125) << code << outcome;
    EXPECT_NE(outcome.err().find("--out: '"), std::string::npos) << outcome;
    EXPECT_NE(outcome.err().find("is there and not a "), std::string::npos) << outcome;
  }
  EXPECT_EQ(read_file(victim), "precious");
  EXPECT_EQ(read_file(out() / "old"), "new");
  for (const std::string& name : found_out()) {
    EXPECT_FALSE(name.starts_with(".wardcase-")) << "a file on its way was left";
  }
}

TEST_P(Artifacts, ADirectoryThatCantBeWrittenToIsToldBeforeAnythingRuns) {
  const Outcome outcome = run({"--out", "/proc/nowhere/out", "--", "echo", "ran"});
  EXPECT_EQ(outcome.exit_code, 125) << outcome;
  EXPECT_EQ(outcome.out(), "");
  EXPECT_NE(outcome.err().find("--out: make '/proc/nowhere/out'"), std::string::npos) << outcome;
}

TEST_P(Artifacts, OfAProgramThatWasEndedAreToldAsWell) {
  const Record record = bash("printf abc > file; sleep 60", {"--timeout", "500ms"});
  EXPECT_EQ(record.status(), "timeout") << record;
  EXPECT_EQ(paths(record), "file\n") << record;
}

}  // namespace
}  // namespace wardcase::test
