// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Programs that take more than their share. Each has its control: with a wider
// limit, or outside a box, the same program gets what it wants.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/support/hostile_test.h"

namespace wardcase::test {
namespace {

using HostileResources = HostileTest;
WARDCASE_AS_ROOT_AND_USER(HostileResources);

TEST_P(HostileResources, AForkBombIsHeldByThePidsLimit) {
  declare_attack("fork without end", "pids limit");
  no_control("it would fill the process table");
  const Record record = hostile("fork_bomb", {}, {"--pids", "64", "--timeout", "3s"});
  EXPECT_NE(record.out().find("armed"), std::string::npos) << record;
  EXPECT_EQ(record.status(), "timeout");
  EXPECT_TRUE(record.lists("limits_hit", "pids")) << record;
}

TEST_P(HostileResources, ForkFailsAtThePidsLimit) {
  declare_attack("fork beyond the limit", "pids limit");
  const Record record = hostile("fork_bomb", {"100"}, {"--pids", "40"});
  EXPECT_EQ(record.status(), "exited") << record;
  EXPECT_EQ(record.out(), "armed\nmade 39\n");  // the program itself is the fortieth
  EXPECT_TRUE(record.lists("limits_hit", "pids"));
  EXPECT_TRUE(control_works(outside("fork_bomb", {"100"}).out() == "armed\nmade 100\n"));
}

TEST_P(HostileResources, AMemoryHogEndsAsOutOfMemory) {
  declare_attack("fill memory", "memory limit");
  const Record record = hostile("memory_hog", {"512"}, {"-m", "64m", "--timeout", "20s"});
  EXPECT_EQ(record.out(), "armed\n") << record;
  EXPECT_EQ(record.status(), "oom");
  EXPECT_TRUE(record.lists("limits_hit", "memory"));
  EXPECT_TRUE(control_works(outside("memory_hog", {"128"}).out() == "armed\nheld 128 MiB\n"));
}

TEST_P(HostileResources, AMemoryHogInAChildEndsTheWholeRun) {
  declare_attack("fill memory in a child, the first process innocent",
                 "memory limit, of the whole tree");
  const Record record = hostile("memory_hog", {"512", "child"}, {"-m", "64m", "--timeout", "15s"});
  EXPECT_EQ(record.out(), "armed\n") << record;
  EXPECT_EQ(record.status(), "oom");
  const Record wider = hostile("memory_hog", {"64", "child"}, {"-m", "512m", "--timeout", "3s"});
  EXPECT_TRUE(control_works(wider.out() == "armed\nheld 64 MiB\n")) << wider;
}

// A control group counts such pages; a watcher can't, and gives no such mapping.
TEST_P(HostileResources, MemoryThatNoProcessShowsCountsOrIsRefused) {
  declare_attack("fill memory that no process shows",
                 "the control group counts it; a watcher has it refused");
  for (const char* kind : {"anonymous", "zero"}) {
    const Record record = hostile("unmapped_memory", {"256", kind}, {"-m", "64m"});
    EXPECT_EQ(record.status(), is_root() ? "oom" : "exited") << record;
    EXPECT_EQ(record.out(), is_root() ? "armed\n" : "armed\nno mapping\n");
    EXPECT_TRUE(
        control_works(outside("unmapped_memory", {"128", kind}).out() == "armed\nheld 128 MiB\n"));
  }
}

TEST_P(HostileResources, TheWritableDirectoriesShareOneDiskBudget) {
  declare_attack("fill each writable directory", "one tmpfs with a size for all");
  const Record record = hostile("disk_filler", {"26"}, {"--disk", "64m", "--timeout", "20s"});
  EXPECT_EQ(record.out().find("armed\nENOSPC after 6"), 0U) << record;
  EXPECT_TRUE(record.lists("limits_hit", "disk"));
  const Record wider = hostile("disk_filler", {"26"}, {"--disk", "128m", "--timeout", "20s"});
  EXPECT_TRUE(control_works(wider.out() == "armed\nwrote 104 MiB\n")) << wider;
}

// As many descriptors as one user may have on their way through sockets are there already.
TEST_P(HostileResources, DescriptorsThatAreNeverReceivedHoldUpNoOtherRun) {
  declare_attack("use up the user's descriptors in flight",
                 "a start sends before it limits its own open files");
  const auto with_few = [](const std::string& command) {
    return Command::other(caller(), {"/bin/sh", "-c", "ulimit -Sn 256; exec " + command}).finish();
  };
  const std::string attack = Workplace::get().program("descriptors_in_flight").string();
  Running attacker = run_command({attack}).start();
  ASSERT_TRUE(attacker.wait_for(Channel::out, "armed\n"));
  const std::string start = Workplace::get().command().string() + " run -- echo ran";
  EXPECT_EQ(with_few(start).out(), "ran\n");
  if (is_root()) {
    no_control("root's boxes have ids of their own");
  } else {
    EXPECT_TRUE(control_works(with_few(attack).out() == "none can be sent\n"));
  }
  attacker.signal(SIGTERM);
  EXPECT_EQ(attacker.finish().exit_code, 128 + SIGTERM);
}

TEST_P(HostileResources, AFloodCostsTheSupervisorLittleMemory) {
  declare_attack("write without end, to grow the supervisor", "head and tail of a fixed size");
  no_control("the supervisor can't be had without its bound");
  const Outcome outcome = run({"--json", "--timeout", "2s", "--capture-limit", "64k",
                               "--output-limit", "none", Workplace::get().program("output_flood")});
  EXPECT_EQ(outcome.record().status(), "timeout") << outcome.record();
  rusage usage{};
  ASSERT_EQ(::getrusage(RUSAGE_CHILDREN, &usage), 0);
  // The largest of all that were waited for so far: the controls outside hold 128 MiB.
  EXPECT_LT(usage.ru_maxrss, 160 * 1024);
}

// What the host does with core files, for the time of a test.
class CoreHandler {
 public:
  explicit CoreHandler(const std::string& handler) : before_(read_file(kPattern)) {
    std::ofstream(kPattern) << "|" + handler;
  }
  CoreHandler(const CoreHandler&) = delete;
  CoreHandler& operator=(const CoreHandler&) = delete;
  ~CoreHandler() { std::ofstream(kPattern) << before_; }

 private:
  static constexpr const char* kPattern = "/proc/sys/kernel/core_pattern";
  std::string before_;
};

// It runs as root, outside of all boxes, on what the program made of its memory.
TEST_P(HostileResources, ACrashStartsNoHandlerOnTheHost) {
  declare_attack("have the host's handler of core files run, by a crash",
                 "the core limit that stands for no handler");
  if (::access("/proc/sys/kernel/core_pattern", W_OK) != 0) {
    return no_control("only root can set a handler");
  }
  const ScratchDirectory place(Caller::root);
  const std::string handler =
      place.write("handler", "#!/bin/sh\n: >" + place.path().string() + "/ran\n", 0755);
  const CoreHandler set(handler);
  const auto has_run = [&] { return std::filesystem::exists(place.path() / "ran"); };
  EXPECT_EQ(bash("echo armed; kill -SEGV $$").text("signal"), "SIGSEGV");
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_FALSE(has_run());
  const Outcome control = Command::other(caller(), {"/bin/bash", "-c", "kill -SEGV $$"}).finish();
  EXPECT_EQ(control.signal, SIGSEGV);
  EXPECT_TRUE(control_works(eventually(has_run)));
}

// Where the host's files of that kind are called "core" and nobody handles them.
void leaves_core_outside(Caller caller) {
  const std::string pattern = read_file("/proc/sys/kernel/core_pattern");
  if (pattern != "core\n") return no_control("this host has another core_pattern");
  const ScratchDirectory unboxed(caller);
  const std::string program = Workplace::get().program("core_dump").string();
  const Outcome outcome =
      Command::other(caller, {"/usr/bin/env", "-C", unboxed.path().string(), program}).finish();
  if (!has_text(outcome.out(), "raised")) return no_control("core files are forbidden here");
  EXPECT_TRUE(control_works(!std::filesystem::is_empty(unboxed.path())));
}

TEST_P(HostileResources, NoCoreFileIsLeftInADirectoryOfTheHost) {
  declare_attack("leave a core file in a directory of the host", "a core limit too small for one");
  const ScratchDirectory shared(caller());
  const Record record =
      hostile("core_dump", {}, {"-v", shared.path().string() + ":/out:rw", "-w", "/out"});
  EXPECT_EQ(record.out(), "armed\nrefused\ncore size 1\n") << record;
  EXPECT_EQ(record.status(), "signaled");
  EXPECT_EQ(record.text("signal"), "SIGABRT");
  EXPECT_TRUE(std::filesystem::is_empty(shared.path()));
  leaves_core_outside(caller());
}

}  // namespace
}  // namespace wardcase::test
