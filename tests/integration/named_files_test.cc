// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// --file: files of the host that are put into the box.
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

class NamedFiles : public WithCaller {
 protected:
  NamedFiles() : place_(caller()) {}
  [[nodiscard]] const ScratchDirectory& place() const { return place_; }

  static void expect_refused(const Outcome& outcome, const std::string& why) {
    EXPECT_EQ(outcome.exit_code, 125) << outcome;
    EXPECT_NE(outcome.err().find(why), std::string::npos) << outcome;
  }

 private:
  ScratchDirectory place_;
};
WARDCASE_AS_ROOT_AND_USER(NamedFiles);

TEST_P(NamedFiles, AreThereUnderTheirNames) {
  const std::string data = place().write("a=b", "content");
  const Record record = bash("cat data.csv deep/er/data.csv; stat -c %a data.csv",
                             {"--file", "data.csv=" + data, "--file", "deep/er/data.csv=" + data});
  EXPECT_EQ(record.out(), "contentcontent644\n") << record;
}

TEST_P(NamedFiles, CanBeExecutedIfTheirOwnerMay) {
  const std::string tool = place().write("tool", "#!/bin/sh\necho works\n", 0755);
  EXPECT_EQ(bash("./tool", {"--file", "tool=" + tool}).out(), "works\n");
}

TEST_P(NamedFiles, AreCopies) {
  const std::string data = place().write("data", "precious");
  const Record record = bash("echo changed > data && cat data", {"--file", "data=" + data});
  EXPECT_EQ(record.out(), "changed\n") << record;
  EXPECT_EQ(read_file(data), "precious");
}

TEST_P(NamedFiles, CanBeManyMoreThanUsualDescriptors) {
  const std::string data = place().write("data", "x");
  std::vector<std::string> flags;
  for (int i = 0; i < 1024; ++i) {
    flags.insert(flags.end(), {"--file", "d/" + std::to_string(i) + "=" + data});
  }
  EXPECT_EQ(bash("cat d/* | wc -c", flags).out(), "1024\n");
  flags.insert(flags.end(), {"--file", "d/more=" + data, "--", "true"});
  flags.insert(flags.begin(), "run");
  expect_refused(Command(caller(), flags).finish(), "at most 1024");
}

TEST_P(NamedFiles, NamesStayInTheBoxAndMeetNothing) {
  const std::string data = place().write("data", "x");
  const auto refused = [&](std::vector<std::string> arguments, const std::string& why) {
    arguments.insert(arguments.end(), {"-l", "bash", "-c", "true"});
    expect_refused(run(std::move(arguments)), why);
  };
  refused({"--file", data}, "write NAME=PATH");
  refused({"--file", "=" + data}, "is empty");
  refused({"--file", "a="}, "write NAME=PATH");
  refused({"--file", "../a=" + data}, "'..'");
  refused({"--file", "a/../../b=" + data}, "'..'");
  refused({"--file", "/etc/a=" + data}, "is absolute");
  refused({"--file", "main.sh=" + data}, "'/box/main.sh' is there already");
  refused({"--file", "main.sh/a=" + data}, "'/box/main.sh' is there already");
  refused({"--file", "a=" + data, "--file", "a/b=" + data}, "'/box/a' is there already");
  refused({"--file", "a=" + data, "--file", "a=" + data}, "'/box/a' is there already");
  refused({"--file", "m/a=" + data, "-v", place().path().string() + ":/box/m"}, "is mounted");
  refused({"--file", "a=" + data, "--workspace", place().path()}, "leave --workspace out");
  refused({"--file", "a=" + place().path().string()}, "use -v");
  refused({"--file", "a=" + data + ".none"}, "ENOENT");
}

TEST_P(NamedFiles, AreOpenedWithTheCallersRights) {
  if (!can_be(Caller::root)) GTEST_SKIP() << "needs root, whose file it is";
  const ScratchDirectory other(Caller::root);
  const std::string secret = other.write("secret", "precious", 0600);
  ASSERT_EQ(::chmod(other.path().c_str(), 0755), 0);
  const Outcome outcome = run({"--file", "a=" + secret, "--", "/bin/cat", "/box/a"});
  if (is_root()) {
    EXPECT_EQ(outcome.out(), "precious") << outcome;
  } else {
    expect_refused(outcome, "EACCES");
  }
}

TEST_P(NamedFiles, ALinkThatAProgramMayHaveLeftIsNotFollowed) {
  const ScratchDirectory writable(caller());
  const std::string victim = place().write("victim", "precious");
  const std::string link = writable.path() / "data";
  ASSERT_EQ(::symlink(victim.c_str(), link.c_str()), 0);
  const std::vector<std::string> arguments = {"--file", "a=" + link, "--", "/bin/cat", "/box/a"};
  EXPECT_EQ(run(arguments).out(), "precious");  // the caller's own link is followed
  std::vector<std::string> shown = {"-v", writable.path().string() + ":/mnt:rw"};
  shown.insert(shown.end(), arguments.begin(), arguments.end());
  expect_refused(run(shown), "is a link out of a directory");
}

}  // namespace
}  // namespace wardcase::test
