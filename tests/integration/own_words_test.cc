// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// What wardcase itself says: doctor, and colors.
#include <gtest/gtest.h>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

using OwnWords = WithCaller;
WARDCASE_AS_ROOT_AND_USER(OwnWords);

TEST_P(OwnWords, DoctorSaysTheSameInLinesAndInJson) {
  const Outcome lines = Command(caller(), {"doctor"}).finish();
  const Outcome json = Command(caller(), {"doctor", "--json"}).finish();
  EXPECT_EQ(lines.exit_code, 0) << lines;  // these tests could not run otherwise
  EXPECT_EQ(json.exit_code, 0) << json;
  const Record record = json.record();
  EXPECT_TRUE(record.is_true("ok"));
  EXPECT_EQ(record.number("schema_version"), 1);
  for (const char* name : {"kernel", "namespaces", "id maps", "private mounts", "tmpfs", "proc",
                           "move_mount", "pivot_root", "seccomp", "host ids", "landlock",
                           "control groups", "open files", "python", "bash"}) {
    EXPECT_NE(lines.out().find(std::string(name) + " "), std::string::npos) << lines;
    EXPECT_NE(json.out().find("{\"name\":\"" + std::string(name) + "\",\"state\":\""),
              std::string::npos)
        << json;
  }
  const char* const ids = is_root() ? "{\"name\":\"host ids\",\"state\":\"ok\""
                                    : "{\"name\":\"host ids\",\"state\":\"warn\"";
  EXPECT_NE(json.out().find(ids), std::string::npos) << json;
}

TEST_P(OwnWords, DoctorTakesNothingElse) {
  for (const char* word : {"--no-such", "word"}) {
    const Outcome outcome = Command(caller(), {"doctor", word}).finish();
    EXPECT_EQ(outcome.exit_code, 125);
    EXPECT_NE(outcome.err().find(word), std::string::npos) << outcome;
  }
}

TEST_P(OwnWords, ColorsAreOursAloneAndAskedFor) {
  const std::vector<std::string> failing = {
      "--timeout", "1s",   "--grace", "100ms",
      "-l",        "bash", "-c",      "echo plain; echo plain >&2; sleep 60"};
  const auto with = [&](std::vector<std::string> flags) {
    flags.insert(flags.end(), failing.begin(), failing.end());
    return run(flags);
  };
  const Outcome colored = with({"--color", "always"});
  EXPECT_EQ(colored.out(), "plain\n");
  EXPECT_EQ(colored.err().find("plain\n\x1b[1;31mwardcase:\x1b[0m time limit"), 0U) << colored;
  for (const Outcome& outcome : {with({}), with({"--color=never"}), with({"--color", "auto"})}) {
    EXPECT_EQ(outcome.err().find("plain\nwardcase: time limit"), 0U) << outcome;
  }
  const Outcome doctor = Command(caller(), {"doctor", "--color=always"}).finish();
  EXPECT_EQ(doctor.out().find("\x1b[32mok\x1b[0m    kernel"), 0U) << doctor;
  const Outcome wrong = run({"--color", "blue", "--", "true"});
  EXPECT_EQ(wrong.exit_code, 125);
  EXPECT_NE(wrong.err().find("--color blue: write auto, always or never"), std::string::npos);
}

}  // namespace
}  // namespace wardcase::test
