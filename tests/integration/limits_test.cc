// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Limits of memory, processes, disk and files, and what the record says of them.
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

using Limits = WithCaller;
WARDCASE_AS_ROOT_AND_USER(Limits);

constexpr const char* kHog = "b = []\nwhile True: b.append(bytearray(8 << 20))";

TEST_P(Limits, FewOpenFilesAreEnoughToStart) {
  const Record record = record_of({"--open-files", "8", "--", "bash", "-c", "ulimit -n"});
  EXPECT_EQ(record.out(), "8\n") << record;
}

// Memory that is neither mapped nor in a file system of the box: a control group
// counts it; a watcher can't, and it is refused.
TEST_P(Limits, MemoryWithoutAPlaceCountsOrIsRefused) {
  const Record record = python(
      "import os\n"
      "blocks = [os.memfd_create('block') for _ in range(5)]\n"
      "print('made')\n"
      "for _ in range(40):\n"
      "    for block in blocks: os.write(block, b'x' * 2**20)\n"
      "print('held')",
      {"-m", "64m"});
  if (is_root()) {
    EXPECT_EQ(record.status(), "oom") << record;
    EXPECT_EQ(record.out(), "made\n");
  } else {
    EXPECT_NE(record.err().find("Function not implemented"), std::string::npos) << record;
    EXPECT_EQ(record.out(), "");
  }
}

TEST_P(Limits, ValuesAskedForStandInTheRecord) {
  const Record record = bash("true", {"--timeout",
                                      "1500ms",
                                      "-m",
                                      "64m",
                                      "--pids",
                                      "50",
                                      "--disk",
                                      "10m",
                                      "--file-size",
                                      "5m",
                                      "--open-files",
                                      "100",
                                      "--grace",
                                      "1s",
                                      "--capture-limit",
                                      "2k",
                                      "--output-limit",
                                      "1m",
                                      "--idle-timeout",
                                      "3s",
                                      "--cpu-time",
                                      "1s"});
  EXPECT_EQ(record.number("limits.timeout_ms"), 1500) << record;
  EXPECT_EQ(record.number("limits.memory_bytes"), 64 << 20);
  EXPECT_EQ(record.number("limits.pids"), 50);
  EXPECT_EQ(record.number("limits.disk_bytes"), 10 << 20);
  EXPECT_EQ(record.number("limits.file_size_bytes"), 5 << 20);
  EXPECT_EQ(record.number("limits.open_files"), 100);
  EXPECT_EQ(record.number("limits.grace_ms"), 1000);
  EXPECT_EQ(record.number("limits.capture_bytes"), 2048);
  EXPECT_EQ(record.number("limits.output_bytes"), 1 << 20);
  EXPECT_EQ(record.number("limits.idle_timeout_ms"), 3000);
  EXPECT_EQ(record.number("limits.cpu_time_ms"), 1000);
}

TEST_P(Limits, DefaultsAreThoseOfTheContract) {
  const Record record = bash("true");
  EXPECT_EQ(record.number("limits.timeout_ms"), 60'000) << record;
  EXPECT_EQ(record.number("limits.grace_ms"), 2000);
  EXPECT_EQ(record.number("limits.pids"), 256);
  EXPECT_EQ(record.number("limits.disk_bytes"), 256 << 20);
  EXPECT_EQ(record.number("limits.disk_inodes"), 65'536);
  EXPECT_TRUE(record.is_null("limits.idle_timeout_ms"));
}

TEST_P(Limits, TheRecordSaysWhoHoldsThem) {
  const Record record = bash("true", {"-m", "64m", "--pids", "50"});
  const std::string memory = record.text("enforced_by.memory");
  const std::string pids = record.text("enforced_by.pids");
  if (is_root()) {
    EXPECT_TRUE(memory == "cgroup1" || memory == "cgroup2") << record;
    EXPECT_TRUE(pids == "cgroup1" || pids == "cgroup2") << record;
  } else {
    EXPECT_TRUE(memory == "watcher" || memory == "cgroup2") << record;
    EXPECT_TRUE(pids == "rlimit" || pids == "watcher" || pids == "cgroup2") << record;
    EXPECT_EQ(record.is_degraded("memory_cgroup"), memory == "watcher");
  }
}

TEST_P(Limits, AHogInPythonEndsAsOutOfMemoryWithLimitAndPeak) {
  const Record record = python(kHog, {"-m", "128m", "--timeout", "20s"});
  EXPECT_EQ(record.status(), "oom") << record;
  EXPECT_EQ(record.number("limits.memory_bytes"), 128 << 20);
  EXPECT_GE(record.number("memory_peak_bytes"), 100 << 20);
  EXPECT_TRUE(record.lists("limits_hit", "memory"));
  EXPECT_FALSE(record.is_true("success"));
}

TEST_P(Limits, AHogInAChildIsToldToo) {
  const Record record = python("import subprocess, sys\nsubprocess.run([sys.executable, '-c', '''" +
                                   std::string(kHog) + "'''])",
                               {"-m", "128m", "--timeout", "20s"});
  EXPECT_EQ(record.status(), "oom") << record;
}

TEST_P(Limits, OutOfMemoryIs137AndSaysTheOption) {
  const Outcome outcome = run({"-m", "64m", "--timeout", "20s", "-l", "python", "-c", kHog});
  EXPECT_EQ(outcome.exit_code, 137) << outcome;
  EXPECT_NE(outcome.err().find("64 MiB"), std::string::npos) << outcome;
  EXPECT_NE(outcome.err().find("-m"), std::string::npos) << outcome;
}

TEST_P(Limits, ABashForkBombIsHeld) {
  const Record record = bash("f(){ f|f& };f; sleep 3", {"--pids", "64", "--timeout", "8s"});
  EXPECT_TRUE(record.status() == "exited" || record.status() == "timeout") << record;
  EXPECT_NE(record.err().find("Resource temporarily unavailable"), std::string::npos) << record;
  // Forks under way count, too: without a control group it can't always be told.
  EXPECT_TRUE(record.lists("limits_hit", "pids") || caller() == Caller::user) << record;
}

TEST_P(Limits, ThreeDirectoriesShareOneDiskBudget) {
  const std::string write = "head -c 26M /dev/zero > ";
  const Record record = bash(
      write + "/box/a && echo 1; " + write + "/tmp/a && echo 2; " + write + "/dev/shm/a && echo 3",
      {"--disk", "64m"});
  EXPECT_EQ(record.out(), "1\n2\n") << record;
  EXPECT_NE(record.err().find("No space left"), std::string::npos);
  EXPECT_EQ(record.status(), "exited");
}

TEST_P(Limits, AFileLargerThanAllowedIsRefused) {
  const Record record =
      bash("head -c 3M /dev/zero > f; echo $?; stat -c %s f", {"--file-size", "1m"});
  EXPECT_NE(record.out().find("\n1048576\n"), std::string::npos) << record;
  const Record direct = record_of(
      {"--file-size", "1m", "--", "dd", "if=/dev/zero", "of=f", "bs=1M", "count=3", "status=none"});
  EXPECT_EQ(direct.status(), "disk_limit") << direct;
}

TEST_P(Limits, OpenFilesAreLimited) {
  const Record record = python("import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE))",
                               {"--open-files", "64"});
  EXPECT_EQ(record.out(), "(64, 64)\n") << record;
}

TEST_P(Limits, ProcessorsAreLimited) {
  const Record record = bash("nproc", {"--cpus", "1"});
  EXPECT_EQ(record.out(), "1\n") << record;
  EXPECT_EQ(record.number("limits.cpus"), 1);
}

TEST_P(Limits, UsageIsMeasured) {
  const Record record = python("b = bytearray(30 << 20)\nfor i in range(3000000): pass");
  EXPECT_GE(record.number("memory_peak_bytes"), 30 << 20) << record;
  EXPECT_GE(record.number("cpu_ms"), 20);
  EXPECT_GE(record.number("duration_ms"), 20);
  EXPECT_FALSE(record.is_null("setup_ms"));
}

TEST_P(Limits, TheEnvironmentGivesDefaultsAndFlagsOverrideThem) {
  Command command = run_command({"--json", "-l", "bash", "-c", "true"});
  EXPECT_EQ(
      command.environment("WARDCASE_TIMEOUT=7s").finish().record().number("limits.timeout_ms"),
      7000);
  Command flagged = run_command({"--json", "--timeout", "5s", "-l", "bash", "-c", "true"});
  EXPECT_EQ(
      flagged.environment("WARDCASE_TIMEOUT=7s").finish().record().number("limits.timeout_ms"),
      5000);
}

}  // namespace
}  // namespace wardcase::test
