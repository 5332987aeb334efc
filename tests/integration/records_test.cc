// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Real records of every kind against the schema that is shipped.
#include <gtest/gtest.h>

#include "tests/support/record_schema.h"
#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

using Records = WithCaller;
WARDCASE_AS_ROOT_AND_USER(Records);

TEST_P(Records, EveryKindIsValidBySchema) {
  const std::vector<std::vector<std::string>> runs = {
      {"-l", "python", "-c", "print('ok')"},
      {"-l", "bash", "-c", "exit 3"},
      {"-l", "bash", "-c", "kill -SEGV $$"},
      {"-l", "bash", "-c", "kill -50 $$"},  // a realtime signal
      {"--timeout", "200ms", "--grace", "50ms", "-l", "bash", "-c", "sleep 9"},
      {"--idle-timeout", "200ms", "--grace", "50ms", "-l", "bash", "-c", "sleep 9"},
      {"--cpu-time", "200ms", "--grace", "50ms", "-l", "bash", "-c", "while :; do :; done"},
      {"--output-limit", "1k", "-l", "bash", "-c", "yes"},
      {"-m", "48m", "-l", "python", "-c", "b = bytearray(200 << 20)"},
      {"--file-size", "1m", "--", "dd", "if=/dev/zero", "of=f", "bs=2M", "count=1"},
      {"--base64", "-l", "python", "-c",
       "import os; os.write(1, b'\\xff\\x00'); os.write(2, b'e')"},
      {"--merge-stderr", "--capture-limit", "16", "-l", "bash", "-c", "seq 100; echo e >&2"},
      {"--", "no-such-program"},
      {"-w", "/missing", "--", "true"},
  };
  std::string lines;
  for (std::vector<std::string> arguments : runs) {
    arguments.insert(arguments.begin(), "--json");
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.out().find('\n'), outcome.out().size() - 1) << outcome;
    lines += outcome.out();
  }
  const Outcome outcome = judge_records(caller(), lines);
  EXPECT_EQ(outcome.out(),
            "checked exited\nchecked exited\nchecked signaled\nchecked signaled\n"
            "checked timeout\nchecked idle\nchecked cpu_time\nchecked output_limit\nchecked oom\n"
            "checked disk_limit\nchecked exited\nchecked exited\nchecked cannot_execute\n"
            "checked setup_failed\n")
      << outcome.err();
}

TEST_P(Records, IdsAreFreshAndOfTheirForm) {
  const std::string first = bash("true").text("id");
  const std::string second = bash("true").text("id");
  EXPECT_NE(first, second);
  EXPECT_EQ(first.find("run_"), 0U);
  EXPECT_EQ(first.size(), 4U + 26U);
  EXPECT_EQ(first.find_first_not_of("abcdefghijklmnopqrstuvwxyz234567_"), std::string::npos);
}

}  // namespace
}  // namespace wardcase::test
