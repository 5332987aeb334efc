// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

class SavedOutput : public WithCaller {};

TEST_P(SavedOutput, HasAllOfBothStreamsWhereTheRecordHasHeadAndTail) {
  const ScratchDirectory place(caller());
  const std::string directory = place.path() / "made";
  const Record record = record_of({"--save-output", directory, "--capture-limit", "1k", "-l",
                                   "bash", "-c", "printf 'x%.0s' {1..5000}; echo oops >&2"});
  EXPECT_TRUE(record.is_true("stdout_truncated"));
  EXPECT_EQ(read_file(place.path() / "made/stdout"), std::string(5000, 'x'));
  EXPECT_EQ(read_file(place.path() / "made/stderr"), "oops\n");
}

TEST_P(SavedOutput, FollowsNoLinkThatAProgramMayHaveLeft) {
  const ScratchDirectory place(caller());
  const std::string victim = place.write("victim", "precious");
  ASSERT_EQ(::symlink(victim.c_str(), (place.path() / "stdout").c_str()), 0);
  const Outcome outcome = run({"--save-output", place.path(), "--", "echo", "hello"});
  EXPECT_EQ(outcome.exit_code, 125) << outcome;
  EXPECT_NE(outcome.err().find("--save-output"), std::string::npos) << outcome;
  EXPECT_EQ(read_file(victim), "precious");
}

TEST_P(SavedOutput, MetaTellsWhatIsolateWould) {
  const ScratchDirectory place(caller());
  const std::string meta = place.path() / "meta";
  EXPECT_EQ(run({"--meta", meta, "--", "bash", "-c", "exit 7"}).exit_code, 7);
  const std::string exited = read_file(meta);
  EXPECT_NE(exited.find("exitcode:7\n"), std::string::npos) << exited;
  EXPECT_NE(exited.find("status:RE\n"), std::string::npos) << exited;
  EXPECT_NE(exited.find("time-wall:"), std::string::npos) << exited;

  EXPECT_EQ(run({"--meta", meta, "--timeout", "300ms", "--", "sleep", "60"}).exit_code, 124);
  const std::string timed_out = read_file(meta);
  EXPECT_NE(timed_out.find("status:TO\n"), std::string::npos) << timed_out;
  EXPECT_NE(timed_out.find("killed:1\n"), std::string::npos) << timed_out;

  EXPECT_EQ(run({"--meta", meta, "--", "bash", "-c", "kill -USR1 $$"}).exit_code, 138);
  const std::string signaled = read_file(meta);
  EXPECT_NE(signaled.find("exitsig:10\n"), std::string::npos) << signaled;
  EXPECT_NE(signaled.find("status:SG\n"), std::string::npos) << signaled;
}

TEST_P(SavedOutput, AMetaFileThatCantBeWrittenIsToldAndFails) {
  const Outcome outcome = run({"--meta", "/nonexistent/meta", "--", "true"});
  EXPECT_EQ(outcome.exit_code, 125) << outcome;
  EXPECT_NE(outcome.err().find("/nonexistent/meta"), std::string::npos) << outcome;
}

WARDCASE_AS_ROOT_AND_USER(SavedOutput);

}  // namespace
}  // namespace wardcase::test
