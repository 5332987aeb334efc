// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
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

class StdinPumpTest : public testing::Test {
 protected:
  void SetUp() override {
    test::ignore_sigpipe();
    test::Pipe pipe = test::make_pipe();
    test::make_nonblocking(pipe.read_end.get());
    test::make_nonblocking(pipe.write_end.get());
    program = std::move(pipe.read_end);
    sink = std::move(pipe.write_end);
  }

  void open(int source) {
    auto opened = StdinPump::open(loop, sys::UniqueFd(::fcntl(source, F_DUPFD_CLOEXEC, 3)),
                                  std::move(sink), [this](int error) { broken = error; });
    ASSERT_TRUE(opened) << opened.error().message();
    pump = *std::move(opened);
  }

  void turn_for(std::chrono::milliseconds time) {
    loop.at(Clock::now() + time, [this] { loop.stop(); });
    ASSERT_TRUE(loop.run());
  }

  // Reads as the program, until end of file or for ten seconds.
  void read_to_end() {
    const auto limit = Clock::now() + 10s;
    while (!has_ended && Clock::now() < limit) {
      turn_for(1ms);
      std::array<char, 50'000> chunk = {};
      const ssize_t n = ::read(program.get(), chunk.data(), chunk.size());
      if (n > 0) received.append(chunk.data(), static_cast<std::size_t>(n));
      has_ended = n == 0;
    }
    EXPECT_TRUE(has_ended);
  }

  EventLoop loop = test::make_loop();
  sys::UniqueFd program;  // the end that the program has as its stdin
  sys::UniqueFd sink;
  std::unique_ptr<StdinPump> pump;
  std::string received;
  bool has_ended = false;
  int broken = 0;
};

TEST_F(StdinPumpTest, TellsThatReadingFailedAndNotThatAllHasCome) {
  const sys::UniqueFd unreadable(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  open(unreadable.get());
  read_to_end();
  EXPECT_EQ(received, "");
  EXPECT_EQ(broken, EISDIR);
}

TEST_F(StdinPumpTest, GivesAPipeAndItsEnd) {
  test::Pipe pipe = test::make_pipe();
  open(pipe.read_end.get());
  test::write_to(pipe.write_end.get(), "Bob\n");
  turn_for(2ms);
  EXPECT_EQ(test::read_available(program.get()), "Bob\n");
  EXPECT_FALSE(test::is_nonblocking(pipe.read_end.get()));
  pipe.write_end.reset();
  read_to_end();
}

TEST_F(StdinPumpTest, GivesARegularFileOfAnySize) {
  const test::TemporaryFile file;
  const std::string text = test::long_text(1'000'000);
  test::write_to(file.fd(), text);
  ASSERT_EQ(::lseek(file.fd(), 0, SEEK_SET), 0);
  open(file.fd());
  read_to_end();
  EXPECT_TRUE(received == text);
}

TEST_F(StdinPumpTest, GivesTheEndOfAnEmptyFile) {
  const sys::UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  open(null.get());
  read_to_end();
  EXPECT_EQ(received, "");
}

TEST_F(StdinPumpTest, ReadsNoFurtherAheadThanAChunk) {
  const test::TemporaryFile file;
  test::write_to(file.fd(), test::long_text(1'000'000));
  ASSERT_EQ(::lseek(file.fd(), 0, SEEK_SET), 0);
  const int pipe_bytes = ::fcntl(program.get(), F_GETPIPE_SZ);
  open(file.fd());
  turn_for(20ms);
  EXPECT_LE(::lseek(file.fd(), 0, SEEK_CUR), pipe_bytes + 64 * 1024);
}

TEST_F(StdinPumpTest, StopsReadingWhenTheProgramClosesItsStdin) {
  const test::Pipe pipe = test::make_pipe();
  open(pipe.read_end.get());
  turn_for(1ms);
  program.reset();
  turn_for(1ms);
  test::write_to(pipe.write_end.get(), "for somebody else");
  turn_for(2ms);
  int left = 0;
  ASSERT_EQ(::ioctl(pipe.read_end.get(), FIONREAD, &left), 0);
  EXPECT_EQ(left, 17);
}

TEST_F(StdinPumpTest, GivesTheEndOfANamedPipeWhoseWriterIsGone) {
  const std::string path = testing::TempDir() + "stdin_pump_" + std::to_string(::getpid());
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const sys::UniqueFd fifo(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  sys::UniqueFd writer(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_EQ(::unlink(path.c_str()), 0);
  test::write_to(writer.get(), "left behind");
  writer.reset();
  open(fifo.get());
  read_to_end();
  EXPECT_EQ(received, "left behind");
}

TEST_F(StdinPumpTest, GivesTheLinesOfATerminal) {
  const sys::UniqueFd master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_EQ(::unlockpt(master.get()), 0);
  std::array<char, 64> name = {};
  ASSERT_EQ(::ptsname_r(master.get(), name.data(), name.size()), 0);
  const sys::UniqueFd terminal(::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  open(terminal.get());
  test::write_to(master.get(), "one\n");
  turn_for(5ms);
  EXPECT_EQ(test::read_available(program.get()), "one\n");
  test::write_to(master.get(), "two\n\x04");  // Ctrl-D
  read_to_end();
  EXPECT_EQ(received, "two\n");
  EXPECT_FALSE(test::is_nonblocking(terminal.get()));
}

TEST_F(StdinPumpTest, ReadsAnotherUsersPipeThroughARelay) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  test::Pipe pipe = test::make_pipe();
  const std::string text = test::long_text(50'000);
  test::write_to(pipe.write_end.get(), text);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    EXPECT_EQ(::setgroups(0, nullptr), 0);
    EXPECT_EQ(::setresuid(65534, 65534, 65534), 0);
    open(pipe.read_end.get());
    pipe.write_end.reset();
    turn_for(20ms);
    EXPECT_TRUE(test::read_available(program.get()) == text);
    pump.reset();
    EXPECT_LT(::waitpid(-1, nullptr, WNOHANG), 0);  // no relay is left
    ::_exit(HasFailure() ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace wardcase::supervisor
