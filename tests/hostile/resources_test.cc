// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Programs that take more than their share. Each has its control: with a wider
// limit, or outside a box, the same program gets what it wants.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <filesystem>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

using HostileResources = WithCaller;
WARDCASE_AS_ROOT_AND_USER(HostileResources);

Outcome outside(Caller caller, const std::string& name, const std::string& argument) {
  return Command::other(caller, {Workplace::get().program(name).string(), argument}).finish();
}

TEST_P(HostileResources, AForkBombIsHeldByThePidsLimit) {
  const Record record = hostile("fork_bomb", {}, {"--pids", "64", "--timeout", "1s"});
  EXPECT_NE(record.out().find("armed"), std::string::npos) << record;
  EXPECT_EQ(record.status(), "timeout");
  EXPECT_TRUE(record.lists("limits_hit", "pids")) << record;
}

TEST_P(HostileResources, ForkFailsAtThePidsLimit) {
  const Record record = hostile("fork_bomb", {"100"}, {"--pids", "40"});
  EXPECT_EQ(record.status(), "exited") << record;
  EXPECT_EQ(record.out(), "armed\nmade 39\n");  // the program itself is the fortieth
  EXPECT_TRUE(record.lists("limits_hit", "pids"));
  EXPECT_EQ(outside(caller(), "fork_bomb", "100").out(), "armed\nmade 100\n");
}

TEST_P(HostileResources, AMemoryHogEndsAsOutOfMemory) {
  const Record record = hostile("memory_hog", {"512"}, {"-m", "64m", "--timeout", "20s"});
  EXPECT_EQ(record.out(), "armed\n") << record;
  EXPECT_EQ(record.status(), "oom");
  EXPECT_TRUE(record.lists("limits_hit", "memory"));
  EXPECT_EQ(outside(caller(), "memory_hog", "128").out(), "armed\nheld 128 MiB\n");
}

TEST_P(HostileResources, AMemoryHogInAChildEndsTheWholeRun) {
  const Record record = hostile("memory_hog", {"512", "child"}, {"-m", "64m", "--timeout", "15s"});
  EXPECT_EQ(record.out(), "armed\n") << record;
  EXPECT_EQ(record.status(), "oom");
}

// A control group counts such pages; a watcher can't, and gives no such mapping.
TEST_P(HostileResources, MemoryThatNoProcessShowsCountsOrIsRefused) {
  for (const char* kind : {"anonymous", "zero"}) {
    const Record record = hostile("unmapped_memory", {"256", kind}, {"-m", "64m"});
    EXPECT_EQ(record.status(), is_root() ? "oom" : "exited") << record;
    EXPECT_EQ(record.out(), is_root() ? "armed\n" : "armed\nno mapping\n");
    const Outcome control =
        Command::other(caller(),
                       {Workplace::get().program("unmapped_memory").string(), "128", kind})
            .finish();
    EXPECT_EQ(control.out(), "armed\nheld 128 MiB\n");
  }
}

TEST_P(HostileResources, TheDeviceOfZerosIsReadAsEver) {
  EXPECT_EQ(bash("head -c 3 /dev/zero | od -An -tx1").out(), " 00 00 00\n");
}

TEST_P(HostileResources, TheWritableDirectoriesShareOneDiskBudget) {
  const Record record = hostile("disk_filler", {"26"}, {"--disk", "64m", "--timeout", "20s"});
  EXPECT_EQ(record.out().find("armed\nENOSPC after 6"), 0U) << record;
  EXPECT_TRUE(record.lists("limits_hit", "disk"));
  const Record wider = hostile("disk_filler", {"26"}, {"--disk", "128m", "--timeout", "20s"});
  EXPECT_EQ(wider.out(), "armed\nwrote 104 MiB\n") << wider;
}

TEST_P(HostileResources, DescriptorsEndAtTheOpenFilesLimit) {
  const Record record = hostile("fd_bomb", {"200"}, {"--open-files", "64"});
  EXPECT_EQ(record.out(), "armed\nEMFILE after 61\n") << record;
  EXPECT_EQ(hostile("fd_bomb", {"200"}).out(), "armed\ndone after 200\n");
}

// As many descriptors as one user may have on their way through sockets are there already.
TEST_P(HostileResources, DescriptorsThatAreNeverReceivedHoldUpNoOtherRun) {
  const auto with_few = [](const std::string& command) {
    return Command::other(caller(), {"/bin/sh", "-c", "ulimit -Sn 256; exec " + command}).finish();
  };
  const std::string attack = Workplace::get().program("descriptors_in_flight").string();
  Running attacker = run_command({attack}).start();
  ASSERT_TRUE(attacker.wait_for(Channel::out, "armed\n"));
  const std::string start = Workplace::get().command().string() + " run -- echo ran";
  EXPECT_EQ(with_few(start).out(), "ran\n");
  if (!is_root()) {  // root's boxes have ids of their own
    EXPECT_EQ(with_few(attack).out(), "none can be sent\n");
  }
  attacker.signal(SIGTERM);
  EXPECT_EQ(attacker.finish().exit_code, 128 + SIGTERM);
}

TEST_P(HostileResources, AFloodEndsAtTheOutputLimit) {
  const Record record =
      hostile("output_flood", {}, {"--output-limit", "8m", "--capture-limit", "64k"});
  EXPECT_EQ(record.out().find("armed\n"), 0U) << record;
  EXPECT_EQ(record.status(), "output_limit");
  EXPECT_TRUE(record.is_true("stdout_truncated"));
  EXPECT_LE(record.out().size(), 66U * 1024);
  EXPECT_GE(record.number("stdout_bytes"), 8 << 20);
  EXPECT_TRUE(record.lists("limits_hit", "output"));
}

TEST_P(HostileResources, AFloodCostsTheSupervisorLittleMemory) {
  const Outcome outcome = run({"--json", "--timeout", "2s", "--capture-limit", "64k",
                               "--output-limit", "none", Workplace::get().program("output_flood")});
  EXPECT_EQ(outcome.record().status(), "timeout") << outcome.record();
  rusage usage{};
  ASSERT_EQ(::getrusage(RUSAGE_CHILDREN, &usage), 0);
  // The largest of all that were waited for so far: the controls outside hold 128 MiB.
  EXPECT_LT(usage.ru_maxrss, 160 * 1024);
}

TEST_P(HostileResources, NoCoreFileIsLeftInADirectoryOfTheHost) {
  const ScratchDirectory shared(caller());
  const Record record =
      hostile("core_dump", {}, {"-v", shared.path().string() + ":/out:rw", "-w", "/out"});
  EXPECT_EQ(record.out(), "armed\nrefused\ncore size 0\n") << record;
  EXPECT_EQ(record.status(), "signaled");
  EXPECT_EQ(record.text("signal"), "SIGABRT");
  EXPECT_TRUE(std::filesystem::is_empty(shared.path()));
}

}  // namespace
}  // namespace wardcase::test
