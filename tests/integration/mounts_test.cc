// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Host directories made visible: who may do what there, and whose the files are.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

class Mounts : public WithCaller {
 protected:
  Mounts() : shared_(caller()) {}
  [[nodiscard]] const ScratchDirectory& shared() const { return shared_; }
  [[nodiscard]] std::string path() const { return shared_.path().string(); }

 private:
  ScratchDirectory shared_;
};
WARDCASE_AS_ROOT_AND_USER(Mounts);

TEST_P(Mounts, AMountIsReadOnlyUnlessAskedOtherwise) {
  (void)shared().write("data", "text", 0600);
  for (const char* mode : {"", ":ro"}) {
    const Record record =
        bash("cat /in/data; echo x > /in/data; echo x > /in/new", {"-v", path() + ":/in" + mode});
    EXPECT_EQ(record.out(), "text") << record;
    EXPECT_NE(record.number("exit_code"), 0);
  }
  EXPECT_EQ(read_file(shared().path() / "data"), "text");
  EXPECT_FALSE(std::filesystem::exists(shared().path() / "new"));
}

TEST_P(Mounts, FilesWrittenInAPrivateDirectoryBelongToTheCaller) {
  const Record record = bash("mkdir /out/sub && echo text > /out/sub/file && stat -c %u:%a /out",
                             {"-v", path() + ":/out:rw"});
  EXPECT_EQ(record.out(), "1000:700\n") << record;
  EXPECT_EQ(read_file(shared().path() / "sub/file"), "text\n");
  struct stat status {};
  ASSERT_EQ(::stat((shared().path() / "sub/file").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, uid_of(caller()));
  EXPECT_EQ(status.st_gid, uid_of(caller()));
}

TEST_P(Mounts, AWorkspaceIsWhereTheProgramStands) {
  (void)shared().write("data.csv", "1,2\n");
  const std::string program = shared().write("plot.py", "print(open('data.csv').read())");
  const Outcome outcome = run({"--workspace", path(), program});
  EXPECT_EQ(outcome.out(), "1,2\n\n") << outcome;
  EXPECT_NE(run({"--workspace", path(), "--", "touch", "new"}).exit_code, 0);
  EXPECT_EQ(run({"--workspace", path() + ":rw", "--", "touch", "new"}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(shared().path() / "new"));
}

// A program that may write to the outer mount could leave a link for the next run.
TEST_P(Mounts, AMountBelowAnotherIsNeverPlacedThroughALink) {
  std::filesystem::create_directories(shared().path() / "real/keys");
  std::filesystem::create_directories(shared().path() / "plain/keys");
  const std::string keys = shared().path() / "keys";
  ASSERT_TRUE(std::filesystem::create_directory(keys));
  std::filesystem::create_directory_symlink("/tmp", shared().path() / "absolute");
  std::filesystem::create_directory_symlink("real", shared().path() / "relative");
  for (const char* name : {"absolute", "relative"}) {
    const Record record =
        record_of({"-v", path() + ":/data", "-v", keys + ":/data/" + name + "/keys", "--", "true"});
    EXPECT_EQ(record.status(), "setup_failed") << record;
    EXPECT_NE(record.text("error").find("keys"), std::string::npos) << record;
  }
  const Record control = record_of(
      {"-v", path() + ":/data", "-v", keys + ":/data/plain/keys:rw", "--", "ls", "/data/plain"});
  EXPECT_EQ(control.out(), "keys\n") << control;
}

TEST_P(Mounts, ADirectoryInPlaceOfEtcHasNothingOfOurs) {
  (void)shared().write("only", "this");
  const Record record = record_of({"-v", path() + ":/etc", "--", "ls", "/etc"});
  EXPECT_EQ(record.out(), "only\n") << record;
}

TEST_P(Mounts, WithoutAWorkspaceOtherFilesAreNotThere) {
  (void)shared().write("data.csv", "1,2\n");
  const std::string program = shared().write("plot.py", "print(open('data.csv').read())");
  EXPECT_EQ(run({program}).exit_code, 1);
}

TEST_P(Mounts, TheWorkingDirectoryCanBeChosen) {
  EXPECT_EQ(bash("pwd", {"-v", path() + ":/in", "-w", "/in"}).out(), "/in\n");
  const Outcome missing = run({"-w", "/missing", "--", "pwd"});
  EXPECT_EQ(missing.exit_code, 125) << missing;
  EXPECT_NE(missing.err().find("/missing"), std::string::npos) << missing;
}

TEST_P(Mounts, ASingleFileCanBeMounted) {
  const std::string file = shared().write("config", "value\n", 0600);
  EXPECT_EQ(bash("cat /etc-of-mine/config", {"-v", file + ":/etc-of-mine/config"}).out(),
            "value\n");
}

TEST_P(Mounts, ASymbolicLinkInsideDoesNotLeadOut) {
  const ScratchDirectory other(caller());
  const std::string secret = other.write("secret", "of the host");
  std::filesystem::create_symlink(secret, shared().path() / "link");
  const Record record = bash("cat /in/link", {"-v", path() + ":/in"});
  EXPECT_EQ(record.out(), "") << record;
}

TEST_P(Mounts, DevicesAndSetidProgramsAreDeadThere) {
  const Record record = bash("grep ' /out ' /proc/self/mountinfo", {"-v", path() + ":/out:rw"});
  EXPECT_NE(record.out().find("nosuid"), std::string::npos) << record;
  EXPECT_NE(record.out().find("nodev"), std::string::npos) << record;
}

TEST_P(Mounts, WhatHoldsOurOwnStateIsNotGivenToBeWritten) {
  const std::string home = Workplace::get().home(caller()).string();
  const Outcome written = run({"-v", home + ":/x:rw", "--", "true"});
  EXPECT_EQ(written.exit_code, 125) << written;
  EXPECT_NE(written.err().find("holds the supervisor's own"), std::string::npos) << written;
  const Outcome read = run({"-v", home + ":/x", "--", "true"});
  EXPECT_EQ(read.exit_code, 0) << read;
}

}  // namespace
}  // namespace wardcase::test
