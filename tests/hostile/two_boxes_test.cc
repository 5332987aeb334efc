// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Two programs of one caller that run at the same time. In boxes they must not meet;
// outside, as the control, they do.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "tests/support/hostile_test.h"

namespace wardcase::test {
namespace {

class HostileTwoBoxes : public HostileTest {
 protected:
  static void expect_apart(const std::string& kind, std::string_view what,
                           std::string_view protection) {
    declare_attack("meet another box by " + std::string(what), protection);
    const std::string program = Workplace::get().program("meet").string();
    const std::string name = std::to_string(::getpid()) + std::to_string(::rand() % 1000);
    const auto taken = [&](const pid_t giver) {
      return kind == "signal" ? std::to_string(giver) : name;
    };
    {
      Running first = Command::other(caller(), {program, kind, "give", name}).start();
      EXPECT_TRUE(first.wait_for(Channel::out, "armed\n"));
      const Outcome second = outside("meet", {kind, "take", taken(first.pid())});
      EXPECT_TRUE(control_works(second.out() == "met\n")) << second;
      first.signal(SIGTERM);
      EXPECT_EQ(first.finish().exit_code, 0);
    }
    Running first = run_command({program, kind, "give", name}).start();
    EXPECT_TRUE(first.wait_for(Channel::out, "armed"));
    const Record second =
        hostile("meet", {kind, "take", taken(children_of(init_of(first.pid())).at(0))});
    EXPECT_EQ(second.out(), "alone\n") << second;
    first.signal(SIGTERM);
    EXPECT_EQ(first.finish().exit_code, 128 + SIGTERM);
  }
};
WARDCASE_AS_ROOT_AND_USER(HostileTwoBoxes);

constexpr const char* kNetwork = "own network namespace";
constexpr const char* kObjects = "own IPC namespace";
constexpr const char* kFiles = "own file system";
constexpr const char* kProcesses = "own pid namespace";

TEST_P(HostileTwoBoxes, AbstractSocketsAreApart) {
  expect_apart("abstract", "an abstract socket", kNetwork);
}
TEST_P(HostileTwoBoxes, LoopbackIsApart) { expect_apart("tcp", "a loopback port", kNetwork); }
TEST_P(HostileTwoBoxes, SegmentsAreApart) {
  expect_apart("segment", "System V shared memory", kObjects);
}
TEST_P(HostileTwoBoxes, SemaphoresAreApart) {
  expect_apart("semaphores", "System V semaphores", kObjects);
}
TEST_P(HostileTwoBoxes, MessagesAreApart) {
  expect_apart("messages", "System V messages", kObjects);
}
TEST_P(HostileTwoBoxes, QueuesAreApart) {
  expect_apart("queue", "a POSIX message queue", "own IPC namespace; none may be made");
}
TEST_P(HostileTwoBoxes, SharedMemoryIsApart) { expect_apart("shm", "POSIX shared memory", kFiles); }
TEST_P(HostileTwoBoxes, FilesInTmpAreApart) { expect_apart("file", "a file in /tmp", kFiles); }
TEST_P(HostileTwoBoxes, SocketsInTmpAreApart) {
  expect_apart("socket", "a socket in /tmp", kFiles);
}
TEST_P(HostileTwoBoxes, LocksAreApart) { expect_apart("lock", "a lock on a file in /tmp", kFiles); }
TEST_P(HostileTwoBoxes, KeyringsAreApart) {
  expect_apart("key", "the user's keyring", "the filter refuses keyrings");
}
TEST_P(HostileTwoBoxes, SignalsAreApart) { expect_apart("signal", "a signal", kProcesses); }
TEST_P(HostileTwoBoxes, ProcIsApart) { expect_apart("process", "a name in /proc", kProcesses); }

}  // namespace
}  // namespace wardcase::test
