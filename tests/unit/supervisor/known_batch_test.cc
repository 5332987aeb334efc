// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/known_batch.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "supervisor/server/batch_registry.h"
#include "tests/unit/supervisor/loop.h"

namespace wardcase::supervisor {
namespace {

using namespace std::chrono_literals;

// Runs that do what the test says: the first is the program's preparation.
class KnownBatchTest : public testing::Test {
 protected:
  struct Fake : StartedRun {
    Fake(KnownBatchTest& its_test, std::size_t its_number) : test(its_test), number(its_number) {}
    void stop(int) override { test.stopped.push_back(number); }
    void set_paused(bool) override {}
    [[nodiscard]] RunRecord record_so_far() const override { return {}; }
    KnownBatchTest& test;
    std::size_t number;
  };

  static BatchPlan plan_of(std::size_t cases) {
    BatchPlan plan;
    plan.program = std::make_unique<PreparedProgram>(Job());
    plan.request.cases.resize(cases);
    plan.bytes = 1000;
    return plan;
  }
  KnownBatch* begin(BatchPlan plan, const std::string& owner = "uid:7") {
    RunTerms terms;
    terms.owner = owner;
    const auto batch = registry.begin(std::move(plan), std::move(terms));
    return batch ? *batch : nullptr;
  }
  void end(std::size_t number, RunStatus status = RunStatus::exited, int code = 0) {
    RunRecord record;
    record.status = status;
    record.exit_code = code;
    observers.at(number)->on_end(record);
  }
  void turn() {
    loop.at(Clock::now() + 40ms, [this] { loop.stop(); });
    EXPECT_TRUE(loop.run());
  }
  // The verdicts that were told, by index.
  static std::string told(const KnownBatch& batch) {
    std::string all;
    for (std::uint64_t i = 1; i <= batch.log().newest(); ++i) {
      const std::string line(batch.log().line(i));
      const auto at = line.find("\"index\":");
      if (at == std::string::npos) continue;
      const auto verdict = line.find("\"verdict\":\"") + 11;
      all += line.substr(at + 8, 1) + line.substr(verdict, line.find('"', verdict) - verdict) + " ";
    }
    return all;
  }

  std::vector<RunObserver*> observers;
  std::vector<std::size_t> stopped;
  EventLoop loop = test::make_loop();
  RunQueue queue{
      loop, {.running = 2, .waiting = 2, .memory = {}}, [this](Job, RunObserver& observer) {
        observers.push_back(&observer);
        return std::make_unique<Fake>(*this, observers.size() - 1);
      }};
  BatchRegistry registry{loop, queue, {}};
};

TEST_F(KnownBatchTest, NoMoreCasesAreUnderWayThanCanRun) {
  KnownBatch* const batch = begin(plan_of(5));
  ASSERT_NE(batch, nullptr);
  EXPECT_EQ(observers.size(), 1U) << "no case before the program is ready";
  end(0);
  EXPECT_EQ(observers.size(), 3U);
  EXPECT_EQ(queue.waiting(), 0U);
  end(2);
  end(1, RunStatus::exited, 1);
  EXPECT_EQ(observers.size(), 5U);
  EXPECT_EQ(told(*batch), "1passed 0run_failed ");
  for (const std::size_t number : {3U, 4U, 5U}) end(number);
  EXPECT_EQ(batch->state(), WorkState::ended);
  EXPECT_EQ(batch->status_text(), "finished");
  turn();
}

TEST_F(KnownBatchTest, WithAFirstFailureTheVerdictsDoNotDependOnWhoIsFaster) {
  BatchPlan plan = plan_of(6);
  plan.request.stops_early = true;
  KnownBatch* const batch = begin(std::move(plan));
  ASSERT_NE(batch, nullptr);
  end(0);
  end(2, RunStatus::exited, 1);  // case 1
  EXPECT_EQ(told(*batch), "") << "the one before it may fail, too";
  end(3);  // case 2
  end(1);  // case 0
  EXPECT_EQ(told(*batch), "0passed 1run_failed ");
  EXPECT_EQ(stopped, std::vector<std::size_t>{4});
  end(4, RunStatus::stopped);
  EXPECT_EQ(told(*batch), "0passed 1run_failed 2skipped 3skipped 4skipped 5skipped ");
  EXPECT_EQ(batch->status_text(), "finished");
  turn();
}

TEST_F(KnownBatchTest, AFullQueueOnlyDelaysIt) {
  KnownBatch* const batch = begin(plan_of(2));
  ASSERT_NE(batch, nullptr);
  struct Other : QueueObserver {
    void on_begun() override {}
    void on_start(std::string_view) override {}
    void on_output(Stream, std::string_view) override {}
    void on_end(const RunRecord&) override {}
    void on_given_up() override {}
  } other;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(queue.submit({Job(), "uid:8", 0, std::nullopt}, other));
  end(0);  // its cases find no room
  EXPECT_EQ(queue.waiting(), 1U);
  turn();
  for (std::size_t i = 1; i < 6; ++i) end(i);
  EXPECT_EQ(told(*batch), "0passed 1passed ");
}

TEST_F(KnownBatchTest, NothingOfItBeginsOnceTheServiceIsBeingStopped) {
  KnownBatch* const batch = begin(plan_of(4));
  ASSERT_NE(batch, nullptr);
  end(0);
  registry.begin_drain();
  queue.drain(15);
  EXPECT_EQ(stopped.size(), 2U) << "once each: a second time would be without patience";
  end(1, RunStatus::stopped);
  end(2, RunStatus::exited);
  EXPECT_EQ(observers.size(), 3U);
  EXPECT_EQ(told(*batch), "0skipped 1passed 2skipped 3skipped ");
  EXPECT_EQ(batch->status_text(), "stopped");
  turn();
}

TEST_F(KnownBatchTest, WhatIsAskedForTwiceIsStoppedOnce) {
  KnownBatch* const batch = begin(plan_of(3));
  ASSERT_NE(batch, nullptr);
  end(0);
  batch->stop();
  batch->stop();
  EXPECT_EQ(stopped.size(), 2U);
  end(1, RunStatus::stopped);
  end(2, RunStatus::stopped);
  EXPECT_EQ(told(*batch), "0skipped 1skipped 2skipped ");
  turn();
}

TEST_F(KnownBatchTest, WhatAllMayHoldIsBoundedForEachCallerAndForAll) {
  BatchPlan large = plan_of(1);
  large.bytes = 300 << 20;
  ASSERT_NE(begin(std::move(large)), nullptr);
  large = plan_of(1);
  large.bytes = 300 << 20;
  EXPECT_EQ(begin(std::move(large)), nullptr) << "more than half of it";
  large = plan_of(1);
  large.bytes = 200 << 20;
  EXPECT_NE(begin(std::move(large), "uid:8"), nullptr) << "another's";
  end(0, RunStatus::setup_failed);
  large = plan_of(1);
  large.bytes = 100 << 20;
  EXPECT_NE(begin(std::move(large)), nullptr) << "the first has ended";
  turn();
}

}  // namespace
}  // namespace wardcase::supervisor
