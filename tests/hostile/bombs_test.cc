// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Programs that take without end, in each kind that the kernel counts apart. The control
// is the same program where the limit is wider, or outside a box where that does no harm.
#include <gtest/gtest.h>

#include <csignal>
#include <tuple>

#include "tests/support/hostile_test.h"

namespace wardcase::test {
namespace {

// What a run comes to.
struct End {
  std::string status;
  std::string said;  // what stdout begins with, after "armed"
};

struct Bomb {
  std::string name;
  std::string attack;
  std::string protection;
  std::string program;
  std::vector<std::string> arguments;
  std::vector<std::string> flags;
  End as_root;
  End as_user;  // no status: it is not held
  std::vector<std::string> control_arguments;
  std::string control_says;
  bool is_control_outside = true;  // else in a box with the standard limits
};
std::ostream& operator<<(std::ostream& out, const Bomb& bomb) { return out << bomb.name; }

constexpr const char* kNotCounted = "a watcher does not see what the kernel holds for it";

Bomb of_descriptors(const std::string& kind, const std::string& what) {
  const End end = {"exited", "EMFILE after "};
  return {"descriptors_" + kind,
          "use up descriptors: " + what,
          "limit of open files",
          "fd_bomb",
          {kind, "200"},
          {"--open-files", "64"},
          end,
          end,
          {kind, "200"},
          "done after 200",
          /*is_control_outside=*/false};
}

Bomb of_memory(const std::string& kind, const std::string& what, End as_user) {
  const bool is_seen = !as_user.status.empty();
  return {"memory_" + kind,
          "fill memory: " + what,
          is_seen ? "memory limit; a watcher has it refused or sees it" : "memory control group",
          "memory_bomb",
          {kind, "400"},
          {"-m", "64m", "--timeout", "20s"},
          {"oom", ""},
          std::move(as_user),
          {kind, "80"},
          "held 80 MiB"};
}

Bomb of_inodes(const std::string& kind, const std::string& what) {
  const End end = {"exited", "ENOSPC after "};
  return {"inodes_" + kind,
          "use up inodes: " + what,
          "a tmpfs with a number of inodes",
          "inode_bomb",
          {kind, "70000"},
          {"--timeout", "30s"},
          end,
          end,
          {kind, "500"},
          "done after 500",
          /*is_control_outside=*/false};
}

Bomb of_disk(const std::string& kind, const std::string& what, const End& end) {
  return {"disk_" + kind,
          "fill the disk: " + what,
          "a tmpfs with a size",
          "disk_bomb",
          {kind, "200"},
          {"--disk", "32m"},
          end,
          end,
          {kind, "20"},
          "done",
          /*is_control_outside=*/false};
}

Bomb of_output(const std::string& kind, const std::string& what,
               std::vector<std::string> more_flags = {}) {
  std::vector<std::string> flags = {"--output-limit", "8m", "--capture-limit", "64k"};
  flags.insert(flags.end(), more_flags.begin(), more_flags.end());
  const End end = {"output_limit", ""};
  return {"output_" + kind,
          "write without end: " + what,
          "output limit",
          "output_flood",
          {kind},
          std::move(flags),
          end,
          end,
          {},
          ""};
}

std::vector<Bomb> bombs() {
  const End refused = {"exited", "ENOSYS after 0 MiB"};
  const End seen = {"oom", ""};
  std::vector<Bomb> all = {
      of_descriptors("open", "files"),
      of_descriptors("dup", "copies"),
      of_descriptors("pipe", "pipes"),
      of_descriptors("socket", "sockets"),
      of_descriptors("pair", "socket pairs"),
      of_descriptors("event", "eventfds"),
      of_descriptors("epoll", "epoll sets"),
      of_descriptors("timer", "timers"),
      of_descriptors("process", "pidfds"),
      of_descriptors("signal", "signalfds"),
      of_memory("shm", "a file in /dev/shm", seen),
      of_memory("memory", "memfd_create", refused),
      of_memory("segment", "System V segments", refused),
      of_memory("semaphores", "System V semaphores", refused),
      of_memory("messages", "System V messages", refused),
      of_memory("pipes", "full pipes", {}),
      of_memory("pairs", "full UNIX sockets", {}),
      of_memory("tables", "page tables", {}),
      of_inodes("file", "files"),
      of_inodes("directory", "directories"),
      of_inodes("symlink", "symbolic links"),
      of_inodes("link", "hard links"),
      of_inodes("fifo", "FIFOs"),
      of_inodes("socket", "sockets with a name"),
      of_disk("allocate", "blocks that are only reserved", {"exited", "ENOSPC after 31 MiB"}),
      of_disk("mapped", "pages of a mapped file", {"signaled", ""}),
      of_output("lines", "lines on stdout"),
      of_output("errors", "lines on stderr"),
      of_output("both", "both at once"),
      of_output("line", "one line that never ends"),
      of_output("zeros", "zero bytes"),
      of_output("broken", "bytes that are no text"),
      of_output("merged", "both streams in one", {"--merge-stderr"}),
  };
  const End threads = {"exited", "EAGAIN after 39"};
  all.push_back({"threads",
                 "start threads beyond the limit",
                 "pids limit",
                 "thread_bomb",
                 {"100"},
                 {"--pids", "40"},
                 threads,
                 threads,
                 {"100"},
                 "done after 100"});
  return all;
}

class HostileBomb : public testing::TestWithParam<std::tuple<Bomb, Caller>> {
 protected:
  void SetUp() override { skip_unless_can_be(caller()); }
  [[nodiscard]] static const Bomb& bomb() { return std::get<0>(GetParam()); }
  [[nodiscard]] static Caller caller() { return std::get<1>(GetParam()); }
  [[nodiscard]] static Record run_it(const std::vector<std::string>& flags,
                                     const std::vector<std::string>& arguments) {
    std::vector<std::string> words = {"run", "--json"};
    words.insert(words.end(), flags.begin(), flags.end());
    words.push_back(Workplace::get().program(bomb().program).string());
    words.insert(words.end(), arguments.begin(), arguments.end());
    return Command(caller(), std::move(words)).finish().record();
  }
  static void expect_control() {
    if (bomb().control_says.empty()) return no_control("it has no end of its own");
    std::string said;
    if (bomb().is_control_outside) {
      std::vector<std::string> argv = {Workplace::get().program(bomb().program).string()};
      argv.insert(argv.end(), bomb().control_arguments.begin(), bomb().control_arguments.end());
      said = Command::other(caller(), std::move(argv)).finish().out();
    } else {
      said = run_it({}, bomb().control_arguments).out();
    }
    EXPECT_TRUE(control_works(said == "armed\n" + bomb().control_says + "\n")) << said;
  }
};
[[maybe_unused]] const bool kHostileBombLeavesNothing = install_leak_check();
INSTANTIATE_TEST_SUITE_P(As, HostileBomb,
                         testing::Combine(testing::ValuesIn(bombs()),
                                          testing::Values(Caller::root, Caller::user)),
                         [](const auto& row) {
                           return std::get<0>(row.param).name + "_" +
                                  testing::PrintToString(std::get<1>(row.param));
                         });

TEST_P(HostileBomb, EndsAtItsLimit) {
  declare_attack(bomb().attack, bomb().protection);
  expect_control();
  const End& end = caller() == Caller::root ? bomb().as_root : bomb().as_user;
  if (end.status.empty()) return declare_not_held(kNotCounted);
  const Record record = run_it(bomb().flags, bomb().arguments);
  EXPECT_EQ(record.status(), end.status) << record;
  EXPECT_EQ(record.out().find("armed\n" + end.said), 0U) << record;
  if (end.status == "output_limit") {
    EXPECT_TRUE(record.is_true("stdout_truncated") || record.is_true("stderr_truncated"));
    EXPECT_LE(record.out().size() + record.err().size(), 4U * 66 * 1024);
    EXPECT_TRUE(record.lists("limits_hit", "output"));
  }
}

using HostileCounts = HostileTest;
WARDCASE_AS_ROOT_AND_USER(HostileCounts);

// Two of one user: the first, who takes all, and whoever comes after him.
void expect_something_left(Caller caller, const std::string& kind, std::string_view what,
                           std::string_view protection) {
  declare_attack("take all of the host's " + std::string(what), protection);
  const std::string program = Workplace::get().program("host_counts").string();
  const auto one = [&] { return Command::other(caller, {program, kind, "one"}).finish().out(); };
  {
    Running attacker = Command(caller, {"run", program, kind, "all"}).start();
    ASSERT_TRUE(attacker.wait_for(Channel::out, "took "));
    EXPECT_EQ(one(), "got one\n");
    attacker.signal(SIGTERM);
    EXPECT_EQ(attacker.finish().exit_code, 128 + SIGTERM);
  }
  Running outside = Command::other(caller, {program, kind, "all"}).start();
  ASSERT_TRUE(outside.wait_for(Channel::out, "took "));
  EXPECT_TRUE(control_works(one() == "none is left\n"));
}

TEST_P(HostileCounts, InotifyInstancesAreLeftForOthers) {
  expect_something_left(caller(), "inotify", "inotify instances",
                        "few in the box's user namespace");
}

TEST_P(HostileCounts, ContextsOfKernelAioAreLeftForOthers) {
  expect_something_left(caller(), "aio", "contexts of kernel AIO", "io_setup is refused");
}

TEST_P(HostileCounts, PendingSignalsAreLeftForOthers) {
  expect_something_left(caller(), "signals", "pending signals", "RLIMIT_SIGPENDING");
}

TEST_P(HostileCounts, TimersAreLeftForOthers) {
  expect_something_left(caller(), "timers", "timers", "RLIMIT_SIGPENDING");
}

// A tmpfs counts them as inodes, and so beside its size.
TEST_P(HostileCounts, AttributesOfFilesAreMemory) {
  declare_attack("fill memory: attributes of files", "memory limit; a watcher adds them up");
  const Record wide = hostile("disk_bomb", {"attributes", "20"});
  if (has_text(wide.out(), "EOPNOTSUPP")) return no_control("this kernel has none there");
  EXPECT_TRUE(control_works(wide.out() == "armed\ndone\n")) << wide;
  const Record record = hostile("disk_bomb", {"attributes", "60"}, {"-m", "32m"});
  EXPECT_EQ(record.status(), "oom") << record;
  EXPECT_EQ(record.out(), "armed\n");
}

// Beyond a host-wide sum of it the TCP of everybody stops.
TEST_P(HostileCounts, WhatConnectionsHoldIsCounted) {
  declare_attack("fill memory: what TCP connections hold", "memory control group");
  EXPECT_TRUE(control_works(outside("memory_bomb", {"tcp", "64"}).out() == "armed\nheld 64 MiB\n"));
  if (!is_root()) return declare_not_held(kNotCounted);
  const Record record = hostile("memory_bomb", {"tcp", "64"}, {"-m", "32m", "--open-files", "150"});
  ASSERT_EQ(record.out().find("armed\n"), 0U) << record;
  if (record.status() == "oom") return;  // where it is counted with all else
  EXPECT_FALSE(has_text(record.out(), "held")) << record;
  const std::size_t after = record.out().find("after ");
  ASSERT_NE(after, std::string::npos) << record;
  EXPECT_LT(std::stol(record.out().substr(after + 6)), 64);
}

}  // namespace
}  // namespace wardcase::test
