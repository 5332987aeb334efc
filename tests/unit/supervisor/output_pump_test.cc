// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/output_pump.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <string>
#include <utility>

#include "tests/unit/supervisor/descriptors.h"
#include "tests/unit/supervisor/loop.h"

namespace wardcase::supervisor {
namespace {

using namespace std::chrono_literals;

class OutputPumpTest : public testing::Test {
 protected:
  void SetUp() override {
    test::Pipe pipe = test::make_pipe();
    test::make_nonblocking(pipe.read_end.get());
    writer = std::move(pipe.write_end);
    ASSERT_TRUE(pump.open(std::move(pipe.read_end)));
  }

  void turn_for(std::chrono::milliseconds time) {
    loop.at(Clock::now() + time, [this] { loop.stop(); });
    ASSERT_TRUE(loop.run());
  }

  EventLoop loop = test::make_loop();
  std::string received;
  int chunks = 0;
  int broken = 0;
  OutputPump pump{loop,
                  [this](std::string_view bytes) {
                    received += bytes;
                    ++chunks;
                  },
                  [this](int error) { broken = error; }};
  sys::UniqueFd writer;
};

TEST_F(OutputPumpTest, HandsOnWhatIsWritten) {
  test::write_to(writer.get(), "half a line");
  turn_for(2ms);
  EXPECT_EQ(received, "half a line");
}

TEST_F(OutputPumpTest, ReadsOneChunkAWakeUp) {
  ASSERT_GT(::fcntl(writer.get(), F_SETPIPE_SZ, 256 * 1024), 0);
  test::write_to(writer.get(), test::long_text(200 * 1024));
  turn_for(0ms);
  EXPECT_EQ(chunks, 1);
}

TEST_F(OutputPumpTest, ReadsNothingWhilePausedAndAllAfterwards) {
  pump.pause();
  test::write_to(writer.get(), "kept in the pipe");
  turn_for(2ms);
  EXPECT_EQ(received, "");
  pump.resume();
  turn_for(2ms);
  EXPECT_EQ(received, "kept in the pipe");
}

TEST_F(OutputPumpTest, DoesNotTurnTheLoopWhenTheWriterGoesDuringAPause) {
  pump.pause();
  writer.reset();
  const std::clock_t before = std::clock();
  turn_for(200ms);
  EXPECT_LT(std::clock() - before, CLOCKS_PER_SEC / 10);  // of processor time
  pump.resume();
  turn_for(2ms);
  EXPECT_EQ(received, "");
}

TEST_F(OutputPumpTest, CanBePausedByItsSink) {
  test::Pipe pipe = test::make_pipe();
  test::make_nonblocking(pipe.read_end.get());
  ASSERT_GT(::fcntl(pipe.write_end.get(), F_SETPIPE_SZ, 256 * 1024), 0);
  std::size_t bytes = 0;
  OutputPump* self = nullptr;
  OutputPump second(
      loop,
      [&](std::string_view chunk) {
        bytes += chunk.size();
        self->pause();
      },
      [](int) {});
  self = &second;
  ASSERT_TRUE(second.open(std::move(pipe.read_end)));
  test::write_to(pipe.write_end.get(), test::long_text(200 * 1024));
  turn_for(5ms);
  EXPECT_LE(bytes, 64U * 1024);
  EXPECT_GT(bytes, 0U);
}

TEST_F(OutputPumpTest, DrainsAllWithoutWaitingForAWriterThatStaysOpen) {
  ASSERT_GT(::fcntl(writer.get(), F_SETPIPE_SZ, 512 * 1024), 0);
  const std::string text = test::long_text(512 * 1024);
  test::write_to(writer.get(), text);
  pump.drain();
  EXPECT_EQ(received, text);
}

TEST_F(OutputPumpTest, DrainsEvenWhilePaused) {
  pump.pause();
  test::write_to(writer.get(), "last words");
  pump.drain();
  EXPECT_EQ(received, "last words");
}

TEST(OutputPump, StopsDrainingWhenSomebodyWritesForEver) {
  EventLoop loop = test::make_loop();
  test::Pipe pipe = test::make_pipe();
  test::make_nonblocking(pipe.read_end.get());
  std::size_t bytes = 0;
  OutputPump pump(
      loop,
      [&](std::string_view chunk) {
        bytes += chunk.size();
        test::write_to(pipe.write_end.get(), "more and more");
      },
      [](int) {});
  ASSERT_TRUE(pump.open(std::move(pipe.read_end)));
  test::write_to(pipe.write_end.get(), "the first");
  pump.drain();
  EXPECT_GE(bytes, 9U);
  EXPECT_LE(bytes, 80U * 1024);  // a pipe and not much more
}

TEST_F(OutputPumpTest, ClosesItselfAtTheEnd) {
  test::write_to(writer.get(), "bye");
  writer.reset();
  turn_for(2ms);
  EXPECT_EQ(received, "bye");
  pump.resume();
  pump.drain();
  pump.close();
  EXPECT_EQ(chunks, 1);
}

TEST_F(OutputPumpTest, BreaksTheProgramsPipeWhenClosed) {
  test::ignore_sigpipe();
  pump.close();
  EXPECT_LT(::write(writer.get(), "x", 1), 0);
  EXPECT_EQ(errno, EPIPE);
}

TEST_F(OutputPumpTest, TellsThatReadingFailedAndNotThatAllHasCome) {
  sys::UniqueFd master(::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK));
  ASSERT_EQ(::unlockpt(master.get()), 0);
  sys::UniqueFd peer(::ioctl(master.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY));
  int told = 0;
  OutputPump reader(
      loop, [](std::string_view) {}, [&](int error) { told = error; });
  ASSERT_TRUE(reader.open(std::move(master)));
  turn_for(2ms);
  EXPECT_EQ(told, 0);
  peer.reset();
  turn_for(2ms);
  EXPECT_EQ(told, EIO);
}

TEST_F(OutputPumpTest, OfAnEndNothingIsTold) {
  writer.reset();
  turn_for(2ms);
  EXPECT_EQ(broken, 0);
}

TEST_F(OutputPumpTest, GivesALongStreamMoreRoom) {
  const int standard = ::fcntl(writer.get(), F_GETPIPE_SZ);
  constexpr std::size_t kMuch = 40'000;
  for (std::size_t bytes = 0; bytes < 900'000; bytes += kMuch) {
    test::write_to(writer.get(), test::long_text(kMuch));
    turn_for(1ms);
  }
  EXPECT_EQ(::fcntl(writer.get(), F_GETPIPE_SZ), standard);
  for (int i = 0; i < 10; ++i) {
    test::write_to(writer.get(), test::long_text(kMuch));
    turn_for(1ms);
  }
  EXPECT_GT(::fcntl(writer.get(), F_GETPIPE_SZ), standard);
}

}  // namespace
}  // namespace wardcase::supervisor
