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
    void set_paused(bool is_paused) override {
      test.paused.push_back(name + (is_paused ? " on" : " off"));
    }
    [[nodiscard]] RunRecord record_so_far() const override {
      RunRecord record;
      record.id = name;
      return record;
    }
    RunQueueTest& test;
    std::string name;
  };

  struct Asker : QueueObserver {
    Asker(RunQueueTest& its_test, std::string its_name)
        : test(its_test), name(std::move(its_name)) {}
    void on_begun() override { test.begun.push_back(name); }
    void on_start(std::string_view) override {}
    void on_output(Stream, std::string_view) override {}
    void on_end(const RunRecord&) override { test.told.push_back(name); }
    void on_given_up() override { test.told.push_back(name + " never"); }
    RunQueueTest& test;
    std::string name;
  };

  StartRun starter() {
    return [this](Job job, RunObserver& observer) {
      started.push_back(job.spec.id);
      observers[job.spec.id] = &observer;
      return std::make_unique<Fake>(*this, job.spec.id);
    };
  }

  std::optional<RunQueue::Ticket> submit(RunQueue& queue, const std::string& name,
                                         std::uint64_t bytes = 1, const std::string& owner = "",
                                         std::optional<std::uint64_t> memory = 1,
                                         RunQueue::OwnersMost most = {}) {
    RunQueue::Asked asked;
    asked.most = most;
    asked.job.spec.id = name;
    asked.bytes = bytes;
    asked.owner = owner;
    asked.memory = memory;
    askers.push_back(std::make_unique<Asker>(*this, name));
    return queue.submit(std::move(asked), *askers.back());
  }
  void end(const std::string& name) { observers.at(name)->on_end(RunRecord()); }

  std::vector<std::string> begun;
  std::vector<std::string> started;
  std::vector<std::string> told;
  std::vector<std::string> stopped;
  std::vector<std::string> paused;
  std::vector<std::string> gone;
  std::map<std::string, RunObserver*> observers;
  std::vector<std::unique_ptr<Asker>> askers;
  EventLoop loop = test::make_loop();  // holds what is over, and goes first
};

using Names = std::vector<std::string>;

TEST_F(RunQueueTest, StartsAsManyAsMayRunAndTheOthersInTheirOrder) {
  RunQueue queue(loop, {.running = 2, .waiting = 9, .memory = {}}, starter());
  for (const char* name : {"a", "b", "c", "d"}) EXPECT_TRUE(submit(queue, name));
  EXPECT_EQ(started, (Names{"a", "b"}));
  EXPECT_EQ(begun, started);
  EXPECT_EQ(queue.running(), 2U);
  EXPECT_EQ(queue.waiting(), 2U);
  end("b");
  EXPECT_EQ(started, (Names{"a", "b", "c"}));
  EXPECT_EQ(told, (Names{"b"}));
  EXPECT_EQ(gone, Names{}) << "its own call is still under way";
}

TEST_F(RunQueueTest, TakesTurnsAmongThoseWhoAsk) {
  RunQueue queue(loop, {.running = 1, .waiting = 2000, .memory = {}}, starter());
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(submit(queue, "many" + std::to_string(i), 1, "1"));
  EXPECT_TRUE(submit(queue, "one", 1, "2"));
  EXPECT_TRUE(submit(queue, "other", 1, "3"));
  EXPECT_TRUE(submit(queue, "two", 1, "2"));
  for (int i = 0; i < 6; ++i) end(started.back());
  EXPECT_EQ(started, (Names{"many0", "many1", "one", "other", "many2", "two", "many3"}));
}

TEST_F(RunQueueTest, PromisesNoMoreMemoryThanThereIs) {
  RunQueue queue(loop, {.running = 9, .waiting = 9, .memory = 10}, starter());
  EXPECT_TRUE(submit(queue, "a", 1, "0", 6));
  EXPECT_TRUE(submit(queue, "b", 1, "0", 5));
  EXPECT_TRUE(submit(queue, "c", 1, "0", 1));
  EXPECT_EQ(started, (Names{"a"})) << "none overtakes the one whose turn it is";
  end("a");
  EXPECT_EQ(started, (Names{"a", "b", "c"}));
  EXPECT_TRUE(submit(queue, "all", 1, "0", std::nullopt));
  end("b");
  EXPECT_EQ(started.back(), "c");
  end("c");
  EXPECT_EQ(started.back(), "all");
}

TEST_F(RunQueueTest, RefusesWhatItHasNoRoomFor) {
  RunQueue queue(loop, {.running = 1, .waiting = 2, .waiting_bytes = 10, .memory = {}}, starter());
  EXPECT_TRUE(submit(queue, "a", 99));  // does not wait
  EXPECT_TRUE(submit(queue, "b", 6));
  EXPECT_FALSE(submit(queue, "c", 5));
  EXPECT_TRUE(submit(queue, "d", 4));
  EXPECT_FALSE(submit(queue, "e", 0));
  end("a");
  EXPECT_TRUE(submit(queue, "f", 6));
  EXPECT_EQ(started, (Names{"a", "b"}));
}

TEST_F(RunQueueTest, WhoHasAsManyAsHeMayHaveWaitsForThemAndHoldsUpNobody) {
  RunQueue queue(loop, {.running = 3, .waiting = 3, .memory = {}}, starter());
  const RunQueue::OwnersMost one = {.running = 1, .waiting = 3};
  for (const char* name : {"a", "b", "c", "d"}) EXPECT_TRUE(submit(queue, name, 1, "1", 1, one));
  EXPECT_FALSE(submit(queue, "e", 1, "1", 1, one));
  EXPECT_TRUE(submit(queue, "x", 1, "2")) << "the queue is full, but it has not to wait";
  EXPECT_EQ(started, (Names{"a", "x"}));
  end("x");
  EXPECT_EQ(started, (Names{"a", "x"}));
  end("a");
  EXPECT_EQ(started, (Names{"a", "x", "b"}));
}

TEST_F(RunQueueTest, AnOwnersMemoryIsBoundedBesideThatOfAll) {
  RunQueue queue(loop, {.running = 9, .waiting = 9, .memory = 100}, starter());
  const RunQueue::OwnersMost ten = {.memory = 10};
  EXPECT_TRUE(submit(queue, "a", 1, "1", 6, ten));
  EXPECT_TRUE(submit(queue, "b", 1, "1", 6, ten));
  EXPECT_TRUE(submit(queue, "x", 1, "2", 90));
  EXPECT_EQ(started, (Names{"a", "x"}));
  end("a");
  EXPECT_EQ(started, (Names{"a", "x", "b"}));
}

TEST_F(RunQueueTest, ARefusalThatIsTheOwnersOwnFaultIsKnown) {
  RunQueue queue(loop, {.running = 1, .waiting = 9, .owners_bytes = 10, .memory = {}}, starter());
  const RunQueue::OwnersMost two = {.waiting = 2};
  EXPECT_TRUE(submit(queue, "a", 1, "1", 1, two));
  EXPECT_TRUE(submit(queue, "b", 1, "1", 1, two));
  EXPECT_TRUE(queue.has_own_room("1", two, 9));
  EXPECT_FALSE(queue.has_own_room("1", two, 10)) << "of bytes";
  EXPECT_FALSE(submit(queue, "c", 10, "1", 1, two));
  EXPECT_TRUE(submit(queue, "d", 1, "1", 1, two));
  EXPECT_FALSE(queue.has_own_room("1", two, 1)) << "of runs";
  EXPECT_TRUE(queue.has_own_room("2", two, 10));
  EXPECT_TRUE(submit(queue, "other", 10, "2", 1, two));
}

TEST_F(RunQueueTest, TellsWhoseRunHasEnded) {
  RunQueue queue(loop, {.running = 1, .waiting = 9, .memory = {}}, starter());
  Names owners;
  queue.on_end([&](const std::string& owner, const RunRecord&) { owners.push_back(owner); });
  EXPECT_TRUE(submit(queue, "a", 1, "ann"));
  end("a");
  EXPECT_EQ(owners, (Names{"ann"}));
}

TEST_F(RunQueueTest, WhatIsStoppedEndsOrNeverBegins) {
  RunQueue queue(loop, {.running = 1, .waiting = 2, .waiting_bytes = 10, .memory = {}}, starter());
  const auto first = submit(queue, "a");
  const auto second = submit(queue, "b", 10);
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(queue.stop(*second, 15));
  EXPECT_EQ(queue.waiting(), 0U);
  EXPECT_FALSE(queue.stop(*first, 15));
  EXPECT_EQ(stopped, (Names{"a15"}));
  EXPECT_TRUE(submit(queue, "c", 10));
  end("a");
  EXPECT_EQ(told, (Names{"a"}));
  EXPECT_EQ(started, (Names{"a", "c"}));
  EXPECT_FALSE(queue.stop(*first, 15));  // long gone
}

TEST_F(RunQueueTest, WhatHeldUpTheOthersMakesRoomWhenItIsStopped) {
  RunQueue queue(loop, {.running = 9, .waiting = 9, .memory = 10}, starter());
  EXPECT_TRUE(submit(queue, "a", 1, "0", 6));
  const auto large = submit(queue, "large", 1, "0", 9);
  EXPECT_TRUE(submit(queue, "c", 1, "0", 1));
  EXPECT_TRUE(queue.stop(*large, 15));
  EXPECT_EQ(started, (Names{"a", "c"}));
}

TEST_F(RunQueueTest, TellsAndPausesOnlyWhatRuns) {
  RunQueue queue(loop, {.running = 1, .waiting = 9, .memory = {}}, starter());
  const auto first = submit(queue, "a");
  const auto second = submit(queue, "b");
  queue.set_paused(*first, true);
  queue.set_paused(*second, true);
  EXPECT_EQ(paused, (Names{"a on"}));
  EXPECT_EQ(queue.record_so_far(*first)->id, "a");
  EXPECT_FALSE(queue.record_so_far(*second));
}

TEST_F(RunQueueTest, DrainsWhatWaitsAtOnceAndWhatRunsByASignal) {
  RunQueue queue(loop, {.running = 1, .waiting = 9, .memory = {}}, starter());
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
  RunQueue queue(loop, {.running = 1, .waiting = 9, .memory = {}}, starter());
  int changes = 0;
  queue.on_change([&] { ++changes; });
  EXPECT_TRUE(submit(queue, "a"));
  EXPECT_EQ(changes, 1);
  end("a");
  EXPECT_EQ(changes, 2);
}

}  // namespace
}  // namespace wardcase::supervisor
