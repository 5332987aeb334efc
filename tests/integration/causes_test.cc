// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// What ended a run. Beside each cause stands a program that imitates it: by its exit code, by
// a signal to itself, by its words, or by going near the limit first.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

namespace fs = std::filesystem;

class Causes : public WithCaller {
 protected:
  Causes() : files_(caller()) {}
  // A policy's file that says this.
  [[nodiscard]] std::string policy(const std::string& text) const {
    return files_.write("policy.toml", "schema = 1\n" + text + "\n");
  }
  // A hundred MiB of files that are read through the page cache.
  [[nodiscard]] std::string large_file() const {
    return files_.write("large", std::string(100UL << 20, 'x'));
  }
  [[nodiscard]] std::string directory() const { return files_.path().string(); }

 private:
  ScratchDirectory files_;
};
WARDCASE_AS_ROOT_AND_USER(Causes);

constexpr const char* kHog = "b = []\nwhile True: b.append(bytearray(8 << 20))\n";

// A child that takes memory until it is killed.
const std::string kHoggingChild = std::string("import subprocess, sys\nhog = '''") + kHog +
                                  "'''\nended = subprocess.run([sys.executable, '-c', hog])\n";

TEST_P(Causes, ExitCodesOfOursAreOnlyNumbers) {
  for (const int code : {124, 125, 126, 127, 137, 143, 159}) {
    const Record record = bash("exit " + std::to_string(code));
    EXPECT_EQ(record.status(), "exited") << record;
    EXPECT_EQ(record.number("exit_code"), code);
    EXPECT_EQ(record.text("error"), "");
    EXPECT_FALSE(record.lists("limits_hit", "memory") || record.lists("limits_hit", "timeout"));
  }
}

TEST_P(Causes, SignalsOfTheProgramAreItsOwn) {
  for (const char* name : {"SIGKILL", "SIGTERM", "SIGXCPU", "SIGSYS", "SIGPIPE", "SIGALRM"}) {
    const Record record =
        python(std::string("import os, signal\nsignal.signal(signal.SIGPIPE, signal.SIG_DFL)\n"
                           "os.kill(os.getpid(), signal.") +
               name + ")");
    EXPECT_EQ(record.status(), "signaled") << record;
    EXPECT_EQ(record.text("signal"), name);
  }
}

TEST_P(Causes, AKillAfterMemoryCameNearTheLimitIsNotTakenForIt) {
  const Record record = python(
      "import os\n"
      "b = bytearray(150 << 20)\n"
      "for i in range(0, len(b), 4096): b[i] = 1\n"
      "os.kill(os.getpid(), 9)",
      {"-m", "200m"});
  EXPECT_EQ(record.status(), "signaled") << record;
  EXPECT_EQ(record.text("signal"), "SIGKILL");
  EXPECT_FALSE(record.lists("limits_hit", "memory"));
}

// Cached pages fill the group to its limit and are given up again: nothing ran out.
TEST_P(Causes, AKillAfterThePageCacheFilledTheGroupIsNotTakenForIt) {
  const std::string large = large_file();
  const Record record = bash("cat /in/large /in/large >/dev/null; kill -9 $$",
                             {"-m", "48m", "-v", directory() + ":/in"});
  EXPECT_EQ(record.status(), "signaled") << record;
  EXPECT_FALSE(record.lists("limits_hit", "memory"));
}

TEST_P(Causes, OutOfMemoryInAGrandchildEndsTheRun) {
  const Record record =
      bash("(/usr/bin/python3 -c '" + std::string(kHog) + "' & wait); echo went on",
           {"-m", "96m", "--timeout", "30s"});
  EXPECT_EQ(record.status(), "oom") << record;
  EXPECT_EQ(record.out(), "");
  EXPECT_EQ(record.text("error"), "out of memory: limit 96 MiB");
}

TEST_P(Causes, WherePoliciesSayContinueOneProcessIsKilledAndTheRestGoesOn) {
  const Record record =
      python(kHoggingChild + "print('child', ended.returncode)",
             {"-m", "96m", "--timeout", "30s", "--policy", policy("oom = 'continue'")});
  EXPECT_TRUE(record.lists("limits_hit", "memory")) << record;
  if (is_root()) {
    EXPECT_EQ(record.status(), "exited");
    EXPECT_EQ(record.out(), "child -9\n");
    EXPECT_GE(record.number("oom_kills"), 1);
    EXPECT_FALSE(record.is_degraded("oom_continue"));
  } else {  // a watcher can't do that, and says so
    EXPECT_EQ(record.status(), "oom");
    EXPECT_EQ(record.is_degraded("oom_continue"), record.text("enforced_by.memory") == "watcher");
  }
}

TEST_P(Causes, WherePoliciesSayContinueTheProgramsOwnDeathIsStillTheEnd) {
  const Outcome outcome = run({"--json", "-m", "96m", "--timeout", "30s", "--policy",
                               policy("oom = 'continue'"), "-l", "python", "-c", kHog});
  EXPECT_EQ(outcome.record().status(), "oom") << outcome;
  EXPECT_EQ(outcome.exit_code, 137);
}

TEST_P(Causes, WherePoliciesSayContinueALaterKillIsNotTakenForMemory) {
  const Record record =
      python(kHoggingChild + "import os, time\ntime.sleep(2)\nos.kill(os.getpid(), 9)",
             {"-m", "96m", "--timeout", "30s", "--policy", policy("oom = 'continue'")});
  EXPECT_EQ(record.status(), is_root() ? "signaled" : "oom") << record;
}

TEST_P(Causes, WhatHoldsTheMemoryStandsInTheRecord) {
  const Record record = python(kHog, {"-m", "96m", "--timeout", "30s"});
  EXPECT_EQ(record.status(), "oom") << record;
  const bool is_watched = record.text("enforced_by.memory") == "watcher";
  EXPECT_EQ(is_watched, record.is_degraded("memory_cgroup"));
  EXPECT_EQ(is_watched, record.is_null("oom_kills"));
  EXPECT_FALSE(is_root() && is_watched);
}

TEST_P(Causes, TheFirstOneStandsWhateverFollows) {
  const std::string out_of_memory_in_the_grace =
      std::string("import signal, time\ndef hog(*_):\n  b = []\n  while True: ") +
      "b.append(bytearray(8 << 20))\nsignal.signal(15, hog)\nprint('up', "
      "flush=True)\ntime.sleep(60)";
  const Record hogged =
      python(out_of_memory_in_the_grace, {"--timeout", "3s", "--grace", "20s", "-m", "96m"});
  EXPECT_EQ(hogged.status(), "timeout") << hogged;
  EXPECT_EQ(hogged.out(), "up\n");
  const Record flooded = bash("trap 'head -c 3m /dev/zero; exit 3' TERM; echo up; sleep 60 & wait",
                              {"--timeout", "3s", "--grace", "20s", "--output-limit", "1m"});
  EXPECT_EQ(flooded.status(), "timeout") << flooded;
  EXPECT_EQ(flooded.number("exit_code"), 3);
  EXPECT_TRUE(flooded.lists("limits_hit", "output"));
}

TEST_P(Causes, AFileSizeSignalIsTheLimitsAndItsExitIsNot) {
  const Record ended = record_of(
      {"--file-size", "1m", "--", "dd", "if=/dev/zero", "of=f", "bs=1M", "count=3", "status=none"});
  EXPECT_EQ(ended.status(), "disk_limit") << ended;
  EXPECT_TRUE(ended.lists("limits_hit", "file_size"));
  // Python ignores the signal: it sees an error, and goes on.
  const Record seen = python(
      "f = open('f', 'wb', buffering=0)\ntry:\n  f.write(b'x' * (2 << 20)); f.write(b'x')\n"
      "except OSError as e: print(e.errno)",
      {"--file-size", "1m"});
  EXPECT_EQ(seen.status(), "exited") << seen;
  EXPECT_EQ(seen.out(), "27\n");
}

TEST_P(Causes, AFullDiskEndsNothingAndIsTold) {
  const Record record = bash("head -c 20m /dev/zero >f; echo $?", {"--disk", "8m"});
  EXPECT_EQ(record.status(), "exited") << record;
  EXPECT_EQ(record.out(), "1\n");
  EXPECT_TRUE(record.lists("limits_hit", "disk"));
  const Record removed = bash("head -c 20m /dev/zero >f; rm f", {"--disk", "8m"});
  EXPECT_FALSE(removed.lists("limits_hit", "disk")) << removed;
}

// A limit of somebody above the box. Its group is seen by one process as the root of all.
constexpr const char* kBelowALimit =
    "set -e; group=$1; shift\n"
    "mount --bind /sys/fs/cgroup/memory/$group /sys/fs/cgroup/memory\n"
    "exec \"$@\"";

class GroupWithALimit {
 public:
  explicit GroupWithALimit(const char* bytes) {
    std::error_code error;
    EXPECT_TRUE(fs::create_directory(path(), error)) << error.message();
    std::ofstream(path() + "/memory.limit_in_bytes") << bytes;
  }
  GroupWithALimit(const GroupWithALimit&) = delete;
  GroupWithALimit& operator=(const GroupWithALimit&) = delete;
  ~GroupWithALimit() {
    for (const std::string& below : {path() + "/wardcase", path()}) (void)::rmdir(below.c_str());
    EXPECT_FALSE(fs::exists(path())) << path();
  }

  [[nodiscard]] std::string name() const { return "wardcase-test-" + std::to_string(::getpid()); }
  [[nodiscard]] std::string path() const { return "/sys/fs/cgroup/memory/" + name(); }
  [[nodiscard]] Record run(const std::vector<std::string>& arguments) const {
    std::vector<std::string> argv = {"/usr/bin/unshare",
                                     "--mount",
                                     "--propagation=private",
                                     "/bin/bash",
                                     "-c",
                                     kBelowALimit,
                                     "bash",
                                     name(),
                                     Workplace::get().command().string(),
                                     "run",
                                     "--json"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return Command::other(Caller::root, argv).finish().record();
  }
};

TEST(CausesOnV1, ALimitAboveTheBoxIsNotTheBoxs) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to make a group";
  if (!fs::exists("/sys/fs/cgroup/memory/memory.limit_in_bytes")) {
    GTEST_SKIP() << "no memory controller of version 1";
  }
  const GroupWithALimit above("100663296");
  const std::string hog = std::string("import sys\nprint('up', flush=True)\n") + kHog;
  const Record record = above.run({"-m", "1g", "--timeout", "30s", "-l", "python", "-c", hog});
  EXPECT_EQ(record.status(), "signaled") << record;
  EXPECT_EQ(record.text("signal"), "SIGKILL");
  EXPECT_TRUE(record.lists("limits_hit", "host_memory"));
  EXPECT_FALSE(record.lists("limits_hit", "memory"));
  // The control: there the box's own limit is the lower one.
  const Record own = above.run({"-m", "48m", "--timeout", "30s", "-l", "python", "-c", hog});
  EXPECT_EQ(own.status(), "oom") << own;
  EXPECT_FALSE(own.lists("limits_hit", "host_memory"));
}

TEST_P(Causes, WhatIsLeftRunningIsCounted) {
  EXPECT_EQ(bash("exit 0").number("leftover_processes"), 0);
  const Record record = bash("for i in 1 2 3; do sleep 60 & done; setsid sleep 60 & sleep 0.3");
  EXPECT_EQ(record.status(), "exited") << record;
  EXPECT_EQ(record.number("leftover_processes"), 4);
}

// Of the first version of control groups: what is frozen there does not even die.
class FrozenGroup {
 public:
  FrozenGroup() { EXPECT_EQ(::mkdir(path().c_str(), 0755), 0); }
  FrozenGroup(const FrozenGroup&) = delete;
  FrozenGroup& operator=(const FrozenGroup&) = delete;
  ~FrozenGroup() {
    std::ofstream(path() + "/freezer.state") << "THAWED";
    for (int i = 0; i < 500 && ::rmdir(path().c_str()) != 0; ++i) ::usleep(10'000);
    EXPECT_FALSE(fs::exists(path())) << path();
  }

  // All of the box of a running command, its init first.
  void take_children_of(pid_t command) const {
    const std::string task = std::to_string(command);
    std::istringstream children(read_file("/proc/" + task + "/task/" + task + "/children"));
    std::string pid;
    while (children >> pid) {
      std::ofstream(path() + "/cgroup.procs") << pid;
      take_children_of(std::stoi(pid));
    }
  }
  void freeze() const {
    std::ofstream(path() + "/freezer.state") << "FROZEN";
    for (int i = 0; i < 500 && read_file(path() + "/freezer.state") != "FROZEN\n"; ++i) {
      ::usleep(10'000);
    }
    EXPECT_EQ(read_file(path() + "/freezer.state"), "FROZEN\n");
  }

 private:
  [[nodiscard]] static std::string path() {
    return "/sys/fs/cgroup/freezer/wardcase-test-" + std::to_string(::getpid());
  }
};

// Once, as it takes as long as we are patient: that does not depend on the caller.
TEST(CausesOnV1, WhatCannotBeKilledIsToldAndWaitedForNoLonger) {
  if (!fs::exists("/sys/fs/cgroup/freezer/cgroup.procs") || ::geteuid() != 0) {
    GTEST_SKIP() << "needs root and a freezer of version 1, to make a process that can't die";
  }
  Outcome outcome;
  {
    const FrozenGroup group;
    Running running =
        Command(Caller::root, {"run", "--status-fd", std::to_string(kStatusFd), "--timeout", "1s",
                               "--grace", "100ms", "--", "bash", "-c", "echo up; sleep 60; :"})
            .status_channel()
            .start();
    ASSERT_TRUE(running.wait_for(Channel::out, "up"));
    group.take_children_of(running.pid());
    group.freeze();
    outcome = running.finish();
  }
  EXPECT_EQ(Command(Caller::root, {"run", "--", "true"}).finish().exit_code,
            0);  // it sweeps what could not be removed
  EXPECT_EQ(outcome.exit_code, 124) << outcome;
  EXPECT_NE(outcome.status().find("\"status\":\"timeout\""), std::string::npos) << outcome.status();
  EXPECT_NE(outcome.status().find("\"unkillable\":true"), std::string::npos) << outcome.status();
  EXPECT_NE(outcome.err().find("could not be killed"), std::string::npos) << outcome.err();
}

}  // namespace
}  // namespace wardcase::test
