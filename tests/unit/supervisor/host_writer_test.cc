// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include "supervisor/run/host_stream.h"
#include "tests/unit/supervisor/descriptors.h"
#include "tests/unit/supervisor/loop.h"

namespace wardcase::supervisor {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMoreThanAPipe = 300UL * 1024;

class HostWriterTest : public testing::Test {
 protected:
  void SetUp() override { test::ignore_sigpipe(); }

  void open(int fd) {
    auto opened = HostWriter::open(loop, fd,
                                   {.on_blocked = [this] { ++blocked; },
                                    .on_drained =
                                        [this] {
                                          ++drained;
                                          loop.stop();
                                        },
                                    .on_broken =
                                        [this](int error) {
                                          broken = error;
                                          loop.stop();
                                        }});
    ASSERT_TRUE(opened) << opened.error().message();
    writer = *std::move(opened);
  }

  // Turns until the writer is drained or broken, for ten seconds at most.
  void turn() {
    const auto guard = loop.at(Clock::now() + 10s, [this] {
      ADD_FAILURE() << "the writer neither drained nor broke";
      loop.stop();
    });
    ASSERT_TRUE(loop.run());
    loop.cancel(guard);
  }

  // Reads a little every millisecond until all of `size` is there.
  void read_slowly(int fd, std::size_t size) {
    test::make_nonblocking(fd);
    loop.at(Clock::now() + 1ms, [this, fd, size] {
      std::array<char, 10'000> chunk = {};
      const ssize_t n = ::read(fd, chunk.data(), chunk.size());
      if (n > 0) received.append(chunk.data(), static_cast<std::size_t>(n));
      if (received.size() < size) read_slowly(fd, size);
    });
  }

  EventLoop loop = test::make_loop();
  std::unique_ptr<HostWriter> writer;
  std::string received;
  int blocked = 0;
  int drained = 0;
  int broken = 0;
};

TEST_F(HostWriterTest, NeverWaitsForASlowReaderAndLosesNothing) {
  const test::Pipe pipe = test::make_pipe();
  const std::string text = test::long_text(kMoreThanAPipe);
  open(pipe.write_end.get());
  writer->write(text);
  writer->write("the end");
  EXPECT_TRUE(writer->is_blocked());
  EXPECT_EQ(blocked, 1);
  EXPECT_EQ(drained, 0);

  read_slowly(pipe.read_end.get(), text.size() + 7);
  turn();
  EXPECT_FALSE(writer->is_blocked());
  EXPECT_EQ(drained, 1);
  received += test::read_available(pipe.read_end.get());
  EXPECT_EQ(received, text + "the end");
}

TEST_F(HostWriterTest, LeavesTheSharedDescriptionBlocking) {
  const test::Pipe pipe = test::make_pipe();
  open(pipe.write_end.get());
  writer->write(test::long_text(kMoreThanAPipe));
  EXPECT_TRUE(writer->is_blocked());
  EXPECT_FALSE(test::is_nonblocking(pipe.write_end.get()));
}

TEST_F(HostWriterTest, WritesAtOnceWhatFits) {
  const test::Pipe pipe = test::make_pipe();
  open(pipe.write_end.get());
  writer->write("now");
  test::make_nonblocking(pipe.read_end.get());
  EXPECT_EQ(test::read_available(pipe.read_end.get()), "now");
  EXPECT_EQ(blocked, 0);
}

TEST_F(HostWriterTest, FinishesOnceAllIsOut) {
  const test::Pipe pipe = test::make_pipe();
  const std::string text = test::long_text(kMoreThanAPipe);
  open(pipe.write_end.get());
  writer->write(text);
  writer->finish();
  EXPECT_EQ(drained, 0);
  read_slowly(pipe.read_end.get(), text.size());
  turn();
  EXPECT_EQ(drained, 1);
  received += test::read_available(pipe.read_end.get());
  EXPECT_EQ(received, text);
}

TEST_F(HostWriterTest, FinishesInALaterTurnWhenNothingIsKept) {
  const test::Pipe pipe = test::make_pipe();
  open(pipe.write_end.get());
  writer->finish();
  EXPECT_EQ(drained, 0);
  turn();
  EXPECT_EQ(drained, 1);
}

TEST_F(HostWriterTest, TellsThatTheReaderIsGone) {
  test::Pipe pipe = test::make_pipe();
  open(pipe.write_end.get());
  pipe.read_end.reset();
  writer->write("to nobody");
  EXPECT_EQ(broken, EPIPE);
  turn();  // takes the stop that on_broken asked for
  broken = 0;
  writer->write("dropped");
  EXPECT_EQ(broken, 0);
  writer->finish();
  turn();
  EXPECT_EQ(drained, 1);
}

TEST_F(HostWriterTest, TellsThatTheReaderWentWhileItWaited) {
  test::Pipe pipe = test::make_pipe();
  open(pipe.write_end.get());
  writer->write(test::long_text(kMoreThanAPipe));
  pipe.read_end.reset();
  turn();
  EXPECT_EQ(broken, EPIPE);
  EXPECT_FALSE(writer->is_blocked());
}

TEST_F(HostWriterTest, AppendsToARegularFileWhereOthersLeftOff) {
  const test::TemporaryFile file;
  test::write_to(file.fd(), "before, ");
  open(file.fd());
  writer->write("ours, ");
  test::write_to(file.fd(), "after");
  EXPECT_EQ(file.content(), "before, ours, after");
  writer->write(test::long_text(kMoreThanAPipe));
  EXPECT_EQ(blocked, 0);
}

TEST_F(HostWriterTest, WritesToADeviceThatIsAlwaysReady) {
  const sys::UniqueFd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  open(null.get());
  writer->write(test::long_text(kMoreThanAPipe));
  EXPECT_EQ(blocked, 0);
  EXPECT_EQ(broken, 0);
}

TEST_F(HostWriterTest, TellsThatADeviceIsFull) {
  const sys::UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  open(full.get());
  writer->write("x");
  EXPECT_EQ(broken, ENOSPC);
}

TEST_F(HostWriterTest, NeverWaitsForASocket) {
  std::array<int, 2> ends = {-1, -1};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  sys::UniqueFd ours(ends[0]);
  sys::UniqueFd theirs(ends[1]);
  const std::string text = test::long_text(3 * kMoreThanAPipe);
  open(ours.get());
  writer->write(text);
  EXPECT_TRUE(writer->is_blocked());
  EXPECT_FALSE(test::is_nonblocking(ours.get()));
  read_slowly(theirs.get(), text.size());
  turn();
  received += test::read_available(theirs.get());
  EXPECT_EQ(received, text);
}

TEST_F(HostWriterTest, WorksOnATerminal) {
  const sys::UniqueFd master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  ASSERT_TRUE(master.is_open());
  ASSERT_EQ(::unlockpt(master.get()), 0);
  std::array<char, 64> name = {};
  ASSERT_EQ(::ptsname_r(master.get(), name.data(), name.size()), 0);
  const sys::UniqueFd terminal(::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_TRUE(terminal.is_open());
  open(terminal.get());
  writer->write("hello");
  EXPECT_FALSE(test::is_nonblocking(terminal.get()));
  writer->finish();
  turn();
  EXPECT_EQ(test::read_available(master.get()), "hello");
}

TEST_F(HostWriterTest, RefusesWhatIsNotOpen) {
  const auto opened = HostWriter::open(loop, 1'000'000, {});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, EBADF);
}

// A pipe of ours cannot be reopened by another user: the writer needs its relay.
class RelayedHostWriterTest : public HostWriterTest {
 protected:
  void SetUp() override {
    HostWriterTest::SetUp();
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  }

  // Runs `body` as nobody, with a pipe of root's, in a process of its own; the test
  // passes if nothing in there failed.
  template <typename Body>
  void as_another_user(Body body) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      test::Pipe pipe = test::make_pipe();
      EXPECT_EQ(::setgroups(0, nullptr), 0);
      EXPECT_EQ(::setresgid(65534, 65534, 65534), 0);
      EXPECT_EQ(::setresuid(65534, 65534, 65534), 0);
      body(pipe);
      ::_exit(HasFailure() ? 1 : 0);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
};

TEST_F(RelayedHostWriterTest, LosesNothing) {
  as_another_user([&](test::Pipe& pipe) {
    const std::string link = "/proc/self/fd/" + std::to_string(pipe.write_end.get());
    EXPECT_LT(::open(link.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC), 0);
    const std::string text = test::long_text(kMoreThanAPipe);
    open(pipe.write_end.get());
    writer->write(text);
    EXPECT_TRUE(writer->is_blocked());
    EXPECT_FALSE(test::is_nonblocking(pipe.write_end.get()));
    writer->finish();
    read_slowly(pipe.read_end.get(), text.size());
    turn();
    EXPECT_EQ(drained, 1);  // the relay has ended, so all is in the pipe
    received += test::read_available(pipe.read_end.get());
    EXPECT_TRUE(received == text);
  });
}

TEST_F(RelayedHostWriterTest, TellsThatTheReaderIsGone) {
  as_another_user([&](test::Pipe& pipe) {
    open(pipe.write_end.get());
    pipe.read_end.reset();
    writer->write("to nobody");
    turn();
    EXPECT_EQ(broken, EPIPE);
  });
}

TEST_F(RelayedHostWriterTest, EndsItsRelayWhenDestroyed) {
  as_another_user([&](test::Pipe& pipe) {
    open(pipe.write_end.get());
    writer->write(test::long_text(kMoreThanAPipe));
    writer.reset();
    EXPECT_LT(::waitpid(-1, nullptr, WNOHANG), 0);
    EXPECT_EQ(errno, ECHILD);
  });
}

}  // namespace
}  // namespace wardcase::supervisor
