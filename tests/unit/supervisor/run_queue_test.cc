// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/run_queue.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/supervisor/loop.h"

namespace wardcase::supervisor {
namespace {

// Runs that end when the test says so, by the names that they were given.
class RunQueueTest : public testing::Test {
 protected:
  struct Fake : StartedRun {
    Fake(RunQueueTest& its_test, std::string its_name)
        : test(its_test), name(std::move(its_name)) {}
    ~Fake() override { test.gone.push_back(name); }
    void stop(int signal) override { test.stopped.push_back(name + std::to_string(signal)); }
    RunQueueTest& test;
    std::string name;
  };

  StartRun starter() {
    return [this](Job job, std::function<void(const RunRecord&)> ended) {
      started.push_back(job.spec.id);
      endings[job.spec.id] = std::move(ended);
      return std::make_unique<Fake>(*this, job.spec.id);
    };
  }

  std::optional<RunQueue::Ticket> submit(RunQueue& queue, const std::string& name,
                                         std::uint64_t bytes = 1) {
    Job job;
    job.spec.id = name;
    return queue.submit(std::move(job), bytes, [this, name](const RunRecord* record) {
      told.push_back(name + (record == nullptr ? " never" : ""));
    });
  }
  void end(const std::string& name) { endings.at(name)(RunRecord()); }

  std::vector<std::string> started;
  std::vector<std::string> told;
  std::vector<std::string> stopped;
  std::vector<std::string> gone;
  std::map<std::string, std::function<void(const RunRecord&)>> endings;
  EventLoop loop = test::make_loop();  // holds what is over, and goes first
};

using Names = std::vector<std::string>;

TEST_F(RunQueueTest, StartsAsManyAsMayRunAndTheOthersInTheirOrder) {
  RunQueue queue(loop, {.running = 2, .waiting = 9}, starter());
  for (const char* name : {"a", "b", "c", "d"}) EXPECT_TRUE(submit(queue, name));
  EXPECT_EQ(started, (Names{"a", "b"}));
  EXPECT_EQ(queue.running(), 2U);
  EXPECT_EQ(queue.waiting(), 2U);
  end("b");
  EXPECT_EQ(started, (Names{"a", "b", "c"}));
  EXPECT_EQ(told, (Names{"b"}));
  EXPECT_EQ(gone, Names{}) << "its own call is still under way";
}

TEST_F(RunQueueTest, RefusesWhatItHasNoRoomFor) {
  RunQueue queue(loop, {.running = 1, .waiting = 2, .waiting_bytes = 10}, starter());
  EXPECT_TRUE(submit(queue, "a", 99));  // does not wait
  EXPECT_TRUE(submit(queue, "b", 6));
  EXPECT_FALSE(submit(queue, "c", 5));
  EXPECT_TRUE(submit(queue, "d", 4));
  EXPECT_FALSE(submit(queue, "e", 0));
  end("a");
  EXPECT_TRUE(submit(queue, "f", 6));
  EXPECT_EQ(started, (Names{"a", "b"}));
}

TEST_F(RunQueueTest, WhatIsAbandonedIsStoppedOrNeverBeginsAndNobodyHearsOfIt) {
  RunQueue queue(loop, {.running = 1, .waiting = 2, .waiting_bytes = 10}, starter());
  const auto first = submit(queue, "a");
  const auto second = submit(queue, "b", 10);
  ASSERT_TRUE(first && second);
  queue.abandon(*second);
  EXPECT_EQ(queue.waiting(), 0U);
  queue.abandon(*first);
  EXPECT_EQ(stopped, (Names{"a15"}));
  EXPECT_TRUE(submit(queue, "c", 10));
  end("a");
  EXPECT_EQ(told, Names{});
  EXPECT_EQ(started, (Names{"a", "c"}));
  queue.abandon(*first);  // long gone
}

TEST_F(RunQueueTest, DrainsWhatWaitsAtOnceAndWhatRunsByASignal) {
  RunQueue queue(loop, {.running = 1, .waiting = 9}, starter());
  EXPECT_TRUE(submit(queue, "a"));
  EXPECT_TRUE(submit(queue, "b"));
  queue.drain(15);
  EXPECT_EQ(told, (Names{"b never"}));
  EXPECT_EQ(stopped, (Names{"a15"}));
  end("a");
  EXPECT_EQ(told, (Names{"b never", "a"}));
  EXPECT_EQ(queue.running() + queue.waiting(), 0U);
}

TEST_F(RunQueueTest, SaysWhenSomethingHasChanged) {
  RunQueue queue(loop, {.running = 1, .waiting = 9}, starter());
  int changes = 0;
  queue.on_change([&] { ++changes; });
  EXPECT_TRUE(submit(queue, "a"));
  EXPECT_EQ(changes, 1);
  end("a");
  EXPECT_EQ(changes, 2);
}

}  // namespace
}  // namespace wardcase::supervisor
