// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/event_loop.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "tests/unit/supervisor/descriptors.h"
#include "tests/unit/supervisor/loop.h"

namespace wardcase::supervisor {
namespace {

using namespace std::chrono_literals;
using test::make_pipe;
using test::Pipe;

class EventLoopTest : public testing::Test {
 protected:
  // Turns until stop(), or for a second at most.
  void turn() {
    const auto guard = loop.at(Clock::now() + 1s, [this] {
      ADD_FAILURE() << "the loop was not stopped";
      loop.stop();
    });
    ASSERT_TRUE(loop.run());
    loop.cancel(guard);
  }

  // One full turn: what is ready now is handled.
  void turn_once() {
    loop.at(Clock::now(), [this] { loop.stop(); });
    turn();
  }

  EventLoop loop = test::make_loop();
};

TEST_F(EventLoopTest, TellsAHandlerWhatCame) {
  const Pipe pipe = make_pipe();
  std::uint32_t seen = 0;
  ASSERT_TRUE(loop.watch(pipe.read_end.get(), EPOLLIN, [&](std::uint32_t events) {
    seen = events;
    loop.stop();
  }));
  test::write_to(pipe.write_end.get(), "x");
  turn();
  EXPECT_EQ(seen, std::uint32_t{EPOLLIN});
}

TEST_F(EventLoopTest, LetsAHandlerForgetItself) {
  const Pipe pipe = make_pipe();
  test::write_to(pipe.write_end.get(), "x");
  int calls = 0;
  const std::string captured(100, 'c');  // on the heap, freed with the handler
  ASSERT_TRUE(loop.watch(pipe.read_end.get(), EPOLLIN, [&, captured](std::uint32_t) {
    loop.forget(pipe.read_end.get());
    calls += captured == std::string(100, 'c') ? 1 : 100;
  }));
  turn_once();
  turn_once();
  EXPECT_EQ(calls, 1);
}

TEST_F(EventLoopTest, DoesNotGiveAnEventToTheNextOwnerOfANumber) {
  // Both are ready in one turn. The first to be called closes the other's
  // descriptor, and its number is taken by a pipe that has nothing to read.
  std::vector<Pipe> pipes;
  pipes.push_back(make_pipe());
  pipes.push_back(make_pipe());
  const Pipe quiet = make_pipe();
  int stale_calls = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    test::write_to(pipes[i].write_end.get(), "x");
    ASSERT_TRUE(loop.watch(pipes[i].read_end.get(), EPOLLIN, [&, i](std::uint32_t) {
      const int own = pipes[i].read_end.get();
      const int other = pipes[1 - i].read_end.get();
      loop.forget(own);
      loop.forget(other);
      ASSERT_EQ(::dup2(quiet.read_end.get(), other), other);
      ASSERT_TRUE(loop.watch(other, EPOLLIN, [&](std::uint32_t) { ++stale_calls; }));
    }));
  }
  turn_once();
  EXPECT_EQ(stale_calls, 0);
}

TEST_F(EventLoopTest, DoesNotGiveAnEventThatAHandlerBeforeItCalledOff) {
  const Pipe one = make_pipe();
  const Pipe two = make_pipe();
  int calls = 0;
  for (const Pipe* pipe : {&one, &two}) {
    const int other = pipe == &one ? two.read_end.get() : one.read_end.get();
    test::write_to(pipe->write_end.get(), "x");
    ASSERT_TRUE(loop.watch(pipe->read_end.get(), EPOLLIN, [&, other](std::uint32_t) {
      ++calls;
      ASSERT_TRUE(loop.change(other, 0));
    }));
  }
  turn_once();
  EXPECT_EQ(calls, 1);
}

TEST_F(EventLoopTest, RefusesARegularFile) {
  const test::TemporaryFile file;
  const auto watched = loop.watch(file.fd(), EPOLLIN, [](std::uint32_t) {});
  ASSERT_FALSE(watched);
  EXPECT_EQ(watched.error().code, EPERM);
}

TEST_F(EventLoopTest, CannotChangeWhatItDoesNotWatch) {
  const auto changed = loop.change(0, EPOLLIN);
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().code, ENOENT);
  loop.forget(0);  // which is fine
}

TEST_F(EventLoopTest, RunsTimersInTheOrderOfTheirTimes) {
  std::string order;
  const auto now = Clock::now();
  loop.at(now + 3ms, [&] { order += 'c', loop.stop(); });
  loop.at(now + 1ms, [&] { order += 'a'; });
  loop.at(now + 2ms, [&] { order += 'b'; });
  turn();
  EXPECT_EQ(order, "abc");
}

TEST_F(EventLoopTest, RunsTimersOfOneTimeInTheOrderOfTheAsking) {
  std::string order;
  const auto when = Clock::now();
  loop.at(when, [&] { order += 'a'; });
  loop.at(when, [&] { order += 'b'; });
  turn_once();
  EXPECT_EQ(order, "ab");
}

TEST_F(EventLoopTest, NeverRunsATimerEarly) {
  const auto when = Clock::now() + 5ms;
  Clock::time_point ran;
  loop.at(when, [&] {
    ran = Clock::now();
    loop.stop();
  });
  turn();
  EXPECT_GE(ran, when);
}

TEST_F(EventLoopTest, DoesNotRunACancelledTimer) {
  bool ran = false;
  const auto later = loop.at(Clock::now(), [&] { ran = true; });
  loop.cancel(later);
  loop.cancel(later);
  loop.cancel(0);
  turn_once();
  EXPECT_FALSE(ran);
}

TEST_F(EventLoopTest, LetsATimerCancelTheOneAfterIt) {
  bool ran = false;
  EventLoop::TimerId second = 0;
  const auto when = Clock::now();
  loop.at(when, [&] { loop.cancel(second); });
  second = loop.at(when, [&] { ran = true; });
  turn_once();
  EXPECT_FALSE(ran);
}

TEST_F(EventLoopTest, IsNotHeldByATimerThatSetsItselfAnew) {
  int calls = 0;
  std::function<void()> again = [&] {
    ++calls;
    loop.at(Clock::now() - 1s, again);
  };
  loop.at(Clock::now(), again);
  turn_once();
  EXPECT_EQ(calls, 1);
}

TEST_F(EventLoopTest, RunsAPostedTaskOnceAndOneOfATaskInTheNextTurn) {
  std::string order;
  loop.post([&] {
    order += 'a';
    loop.post([&] { order += 'c', loop.stop(); });
  });
  loop.post([&] { order += 'b'; });
  turn();
  EXPECT_EQ(order, "abc");
}

TEST_F(EventLoopTest, FinishesTheTurnInWhichItIsStopped) {
  std::string order;
  loop.post([&] { order += 'a', loop.stop(); });
  loop.post([&] { order += 'b'; });
  turn();
  EXPECT_EQ(order, "ab");
}

TEST_F(EventLoopTest, DoesNotTurnIfItWasStoppedBefore) {
  bool ran = false;
  loop.post([&] { ran = true; });
  loop.stop();
  turn();
  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace wardcase::supervisor
