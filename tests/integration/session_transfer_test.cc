// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Files that come into a session with a program, those that it leaves, brought out, and what run
// can't do there.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/sessions.h"

namespace wardcase::test {
namespace {

namespace fs = std::filesystem;

class SessionTransfer : public WithSession {
 protected:
  SessionTransfer() : place_(caller()) {}
  [[nodiscard]] const ScratchDirectory& place() const { return place_; }
  [[nodiscard]] fs::path out() const { return place_.path() / "out"; }
  [[nodiscard]] Outcome run_in(std::vector<std::string> flags, const std::string& code) const {
    flags.insert(flags.begin(), {"run", "--session", id(), "-l", "bash"});
    flags.insert(flags.end(), {"-c", code});
    return call(std::move(flags));
  }

 private:
  ScratchDirectory place_;
};
WARDCASE_AS_ROOT_AND_USER(SessionTransfer);

TEST_P(SessionTransfer, BringsWhatAProgramMadeAndNothingElse) {
  make();
  (void)record_in("bash", "printf before > before");
  const std::string code =
      "mkdir -p a/b; head -c 300000 /dev/zero > a/b/large; printf 'echo hi' > tool; chmod 755 "
      "tool; "
      "ln -s /etc/passwd link; : > $'odd\\xff'";
  const Outcome outcome = exec("bash", code, {"--out", out()}).finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(fs::file_size(out() / "a/b/large"), 300'000U);
  EXPECT_EQ(read_file(out() / "tool"), "echo hi");
  EXPECT_EQ(::access((out() / "tool").c_str(), X_OK), 0);
  EXPECT_TRUE(fs::exists(out() / "odd\xff"));
  EXPECT_FALSE(fs::exists(out() / "before"));
  EXPECT_FALSE(fs::exists(fs::symlink_status(out() / "link")));
  struct stat info = {};
  ASSERT_EQ(::stat((out() / "tool").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, uid_of(caller()));
}

TEST_P(SessionTransfer, BringsWhatAFailedProgramLeftAndKeepsItsExitCode) {
  const Outcome outcome = run_in({"--out", out()}, "printf abc > file; exit 3");
  EXPECT_EQ(outcome.exit_code, 3) << outcome;
  EXPECT_EQ(read_file(out() / "file"), "abc");
}

TEST_P(SessionTransfer, ReplacesRegularFilesAlone) {
  make();
  ASSERT_EQ(exec("bash", "printf 1 > file; printf 1 > other", {"--out", out()}).finish().exit_code,
            0);
  ASSERT_TRUE(fs::remove(out() / "other"));
  fs::create_symlink("/dev/null", out() / "other");
  const Outcome outcome =
      exec("bash", "printf 2 > file; printf 2 > other", {"--out", out()}).finish();
  EXPECT_EQ(outcome.exit_code, 125) << outcome;
  EXPECT_NE(outcome.err().find("--out: 'other'"), std::string::npos) << outcome;
  EXPECT_TRUE(fs::is_symlink(out() / "other"));
  EXPECT_EQ(read_file(out() / "file"), "2");
}

TEST_P(SessionTransfer, DoesNotBringWhatIsNotThereAnyMoreAsItWasTold) {
  make();
  (void)record_in("bash",
                  "(until [[ -e file ]]; do sleep 0.01; done; while :; do echo more >> file; done) "
                  "> /dev/null 2>&1 &");
  // Whoever writes meanwhile may have to wait for a processor.
  Outcome outcome;
  for (int i = 0; i < 20 && outcome.exit_code != 125; ++i) {
    fs::remove_all(out());
    outcome = exec("bash", "printf abc > file; sleep 0.1", {"--out", out()}).finish();
  }
  EXPECT_EQ(outcome.exit_code, 125) << outcome;
  EXPECT_NE(outcome.err().find("has changed since"), std::string::npos) << outcome;
  EXPECT_TRUE(fs::is_empty(out()));
}

TEST_P(SessionTransfer, HasNothingToBringOfAProgramThatGoesOn) {
  make();
  const Outcome outcome = exec("bash", ":", {"--out", out(), "--yield", "1s"}).finish();
  EXPECT_EQ(outcome.exit_code, 125);
  EXPECT_NE(outcome.err().find("--out: not with --yield"), std::string::npos) << outcome;
}

TEST_P(SessionTransfer, PutsFilesThereBeforeTheProgramBegins) {
  make();
  const std::string large = place().write("large", std::string(3'000'000, 'x'));
  const std::string tool = place().write("tool", "#!/bin/sh\necho made\n");
  ASSERT_EQ(::chmod(tool.c_str(), 0755), 0);
  const Record record = record_in("bash", "stat -c %s data/deep/large; ./tool; ls",
                                  {"--file", "data/deep/large=" + large, "--file", "tool=" + tool,
                                   "--file", "empty=/dev/null"});
  EXPECT_EQ(record.out(), "3000000\nmade\ndata\nempty\ntool\n") << record;
  EXPECT_FALSE(record.has("artifacts.0")) << record;
  const std::string other = place().write("other", "other");
  const Record again = record_in("bash", "cat tool", {"--file", "tool=" + other});
  EXPECT_EQ(again.out(), "other") << again;
}

TEST_P(SessionTransfer, PutsFilesIntoTheSessionThatRunMakes) {
  const std::string data = place().write("data", "data");
  for (int i = 0; i < 2; ++i) {
    const Outcome outcome = run_in({"--file", "d/data=" + data, "--out", out()}, "cp d/data copy");
    EXPECT_EQ(outcome.exit_code, 0) << outcome;
    EXPECT_EQ(read_file(out() / "copy"), "data");
    EXPECT_FALSE(fs::exists(out() / "d"));
  }
}

TEST_P(SessionTransfer, PutsAllOfTheFilesThereOrNoneAndRunsNothing) {
  make({"--disk", "8m"});
  (void)record_in("bash", "mkdir taken; ln -s /etc way; printf kept > kept");
  const std::string small = place().write("small", "small");
  const std::string large = place().write("large", std::string(16 << 20, 'x'));
  const std::vector<std::vector<std::string>> cases = {
      {"new=" + small, "taken=" + small},     {"new=" + small, "way/passwd=" + small},
      {"new=" + small, "kept=" + large},      {"new=" + small, "kept/below=" + small},
      {"kept=" + small, "x=/no/such/file"},   {"kept=" + small, "../x=" + small},
      {"deep/new=" + small, "deep=" + small},
  };
  for (const auto& files : cases) {
    std::vector<std::string> flags;
    for (const std::string& file : files) flags.insert(flags.end(), {"--file", file});
    const Outcome outcome = exec("bash", "printf ran > ran", flags).finish();
    EXPECT_EQ(outcome.exit_code, 125) << outcome;
    EXPECT_NE(outcome.err(), "");
  }
  EXPECT_EQ(record_in("bash", "ls -A; cat kept").out(), "kept\ntaken\nway\nkept");
}

TEST_P(SessionTransfer, HidesFilesFromTheProgramThatRunsMeanwhile) {
  make();
  const std::string data = place().write("data", "data");
  Running first = exec("bash", "echo begun; until [[ -e go ]]; do sleep 0.05; done; ls").start();
  ASSERT_TRUE(first.wait_for(Channel::out, "begun"));
  Running second = exec("bash", "cat data", {"--file", "data=" + data}).start();
  ASSERT_TRUE(eventually([&] { return state().number("queued") == 1; }));
  ASSERT_EQ(call({"cp", data, id() + ":go"}).exit_code, 0);
  EXPECT_EQ(first.finish().out(), "begun\ngo\n");
  EXPECT_EQ(second.finish().out(), "data");
}

TEST_P(SessionTransfer, LeavesNothingOfAProgramThatIsGivenUpWhileItWaits) {
  make();
  const std::string data = place().write("data", "data");
  Running first = exec("bash", "echo begun; sleep 60").start();
  ASSERT_TRUE(first.wait_for(Channel::out, "begun"));
  Running second = exec("bash", "cat data", {"--file", "data=" + data}).start();
  ASSERT_TRUE(eventually([&] { return state().number("queued") == 1; }));
  second.signal(SIGTERM);
  EXPECT_EQ(second.finish().exit_code, 128 + SIGTERM);
  EXPECT_EQ(call({"kill", id()}).exit_code, 0);
  (void)first.finish();
  EXPECT_EQ(record_in("bash", "ls -A").out(), "");
}

TEST_P(SessionTransfer, RefusesOptionsThatASessionWouldNotHeed) {
  for (const auto& [option, instead] :
       std::vector<std::pair<std::string, std::string>>{{"--merge-stderr", "output of the record"},
                                                        {"--dry-run", "leave --session out"},
                                                        {"--workspace=.", "-v DIR:/box:rw"}}) {
    const Outcome outcome =
        call({"run", "--session", id(), option, "-l", "python", "-c", "print('ran')"});
    EXPECT_EQ(outcome.exit_code, 125) << outcome;
    EXPECT_EQ(outcome.out(), "") << option;
    EXPECT_NE(outcome.err().find(": not with --session; "), std::string::npos) << outcome;
    EXPECT_NE(outcome.err().find(instead), std::string::npos) << outcome;
  }
}

}  // namespace
}  // namespace wardcase::test
