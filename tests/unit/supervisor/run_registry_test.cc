// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/run_registry.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sandbox/sys/files.h"
#include "tests/unit/supervisor/loop.h"

namespace wardcase::supervisor {
namespace {

using namespace std::chrono_literals;
using Bond = WorkReader::Bond;

// Runs that do what the test says.
class RunRegistryTest : public testing::Test {
 protected:
  struct Fake : StartedRun {
    explicit Fake(RunRegistryTest& its_test) : test(its_test) {}
    void stop(int) override { ++test.stops; }
    void set_paused(bool value) override { test.is_paused = value; }
    [[nodiscard]] RunRecord record_so_far() const override { return {}; }
    RunRegistryTest& test;
  };

  KnownRun* begin(const std::string& id, RunTerms terms = {}) {
    Job job;
    job.spec.id = id;
    return registry.begin(std::move(job), 1, std::move(terms)).value_or(nullptr);
  }
  void print(const std::string& id, std::string_view text) {
    observers.at(id)->on_output(Stream::out, text);
  }
  void end(const std::string& id, RunStatus status = RunStatus::exited) {
    RunRecord record;
    record.id = id;
    record.status = status;
    observers.at(id)->on_end(record);
  }
  void turn() {
    loop.at(Clock::now() + 1ms, [this] { loop.stop(); });
    EXPECT_TRUE(loop.run());
  }
  static std::vector<std::string> all(WorkReader& reader) {
    std::vector<std::string> lines;
    while (auto line = reader.next()) lines.push_back(*line);
    return lines;
  }

  int stops = 0;
  bool is_paused = false;
  std::map<std::string, RunObserver*> observers;
  EventLoop loop = test::make_loop();
  RunQueue queue{
      loop, {.running = 2, .waiting = 2, .memory = {}}, [this](Job job, RunObserver& observer) {
        observers[job.spec.id] = &observer;
        return std::make_unique<Fake>(*this);
      }};
  RunRegistry registry{loop, queue, {.kept = 2, .bytes = 1 << 20, .age = 1h}};
  const Caller kRoot = {"uid:0", true};
};

TEST_F(RunRegistryTest, ARunIsItsOwnersAndTheAdministrators) {
  RunTerms terms;
  terms.owner = "uid:7";
  KnownRun* const run = begin("a", terms);
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(registry.find("a", {"uid:7", false}), run);
  EXPECT_EQ(registry.find("a", kRoot), run);
  EXPECT_EQ(registry.find("a", {"uid:8", false}), nullptr);
  EXPECT_EQ(registry.find("b", kRoot), nullptr);
  EXPECT_TRUE(registry.list({"uid:8", false}).empty());
  EXPECT_EQ(registry.list({"uid:7", false}).size(), 1U);
}

TEST_F(RunRegistryTest, AKeyIsItsOwnersAlone) {
  RunTerms terms;
  terms.owner = "uid:7";
  terms.key = "k";
  KnownRun* const run = begin("a", terms);
  EXPECT_EQ(registry.find_key("k", "uid:7"), run);
  EXPECT_EQ(registry.find_key("k", "uid:8"), nullptr);
}

TEST_F(RunRegistryTest, WhatNobodyWaitsForDoesNotBeginWhereItCouldBeForgotten) {
  const std::string path = std::filesystem::temp_directory_path() / "wardcase-registry-test";
  ASSERT_TRUE(std::filesystem::create_directory(path));
  auto opened = sys::open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_TRUE(opened);
  auto store = RunStore::open({path, *std::move(opened)});
  ASSERT_TRUE(store);
  registry.keep_in(*std::move(store));
  std::filesystem::remove(path);
  RunTerms detached;
  detached.is_detached = true;
  EXPECT_EQ(begin("a", detached), nullptr);
  EXPECT_EQ(stops, 1);
  EXPECT_NE(begin("b"), nullptr);
  for (const char* id : {"a", "b"}) end(id);
}

TEST_F(RunRegistryTest, OfThoseThatHaveEndedTheOldestGoesWhichNobodyReads) {
  for (const char* id : {"a", "b"}) ASSERT_NE(begin(id), nullptr);
  WorkReader reader(*registry.find("a", kRoot), 0, Bond::none, [] {});
  end("a");
  end("b");
  for (const char* id : {"c", "d"}) {
    ASSERT_NE(begin(id), nullptr);
    end(id);
  }
  turn();
  EXPECT_NE(registry.find("a", kRoot), nullptr);
  EXPECT_EQ(registry.find("b", kRoot), nullptr);
  EXPECT_EQ(registry.find("c", kRoot), nullptr);
  EXPECT_NE(registry.find("d", kRoot), nullptr);
}

TEST_F(RunRegistryTest, OneThatIsReadForLongKeepsNoOther) {
  RunRegistry brief(loop, queue, {.kept = 9, .bytes = 1 << 20, .age = 500ms});
  const auto begin_and_end = [&](const std::string& id) {
    Job job;
    job.spec.id = id;
    KnownRun* const run = brief.begin(std::move(job), 1, {}).value_or(nullptr);
    end(id);
    return run;
  };
  KnownRun* const old = begin_and_end("a");
  ASSERT_NE(old, nullptr);
  WorkReader reader(*old, 0, Bond::none, [] {});
  std::this_thread::sleep_for(600ms);
  ASSERT_NE(begin_and_end("b"), nullptr);
  turn();
  EXPECT_NE(brief.find("a", kRoot), nullptr);
  EXPECT_NE(brief.find("b", kRoot), nullptr) << "it is not old yet";
}

TEST_F(RunRegistryTest, WhatIsKeptOfThemHasABound) {
  const std::string much(700 << 10, 'x');
  for (const char* id : {"a", "b"}) {
    ASSERT_NE(begin(id), nullptr);
    print(id, much);
    end(id);
  }
  turn();
  EXPECT_EQ(registry.find("a", kRoot), nullptr);
  EXPECT_NE(registry.find("b", kRoot), nullptr);
}

TEST_F(RunRegistryTest, AReaderGetsAllLinesFromItsPlaceOn) {
  KnownRun& run = *begin("a");
  int calls = 0;
  WorkReader reader(run, 0, Bond::none, [&] { ++calls; });
  print("a", "one");
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(all(reader).size(), 1U);
  EXPECT_FALSE(reader.is_over());
  end("a");
  WorkReader later(run, 1, Bond::none, [] {});
  EXPECT_EQ(all(later), all(reader));
  EXPECT_TRUE(later.is_over() && reader.is_over());
  EXPECT_EQ(later.position(), 2U);
  EXPECT_EQ(run.record(), "{" + run.log().record()->substr(1));
}

TEST_F(RunRegistryTest, AReaderThatIsBehindIsToldHowMuchItMissed) {
  KnownRun& run = *begin("a");
  const std::string much(1 << 20, 'x');
  for (int i = 0; i < 9; ++i) print("a", much);
  WorkReader reader(run, 2, Bond::none, [] {});
  const auto lines = all(reader);
  EXPECT_EQ(lines.size(), 4U);
  EXPECT_EQ(
      lines.front(),
      "{\"seq\":6,\"type\":\"progress\",\"dropped\":4,\"message\":\"4 events are not kept any "
      "more\"}\n");
  EXPECT_EQ(lines[1].substr(0, 10), "{\"seq\":7,\"");
}

TEST_F(RunRegistryTest, OutputWaitsForWhoReadsItAndForNobodyElse) {
  KnownRun& run = *begin("a");
  const std::string much(800 << 10, 'x');
  WorkReader watcher(run, 0, Bond::none, [] {});
  print("a", much);
  print("a", much);
  EXPECT_FALSE(is_paused);
  WorkReader reader(run, 0, Bond::reads, [] {});
  print("a", "more");
  EXPECT_TRUE(is_paused);
  EXPECT_TRUE(reader.next());
  EXPECT_TRUE(is_paused);
  EXPECT_TRUE(reader.next());
  EXPECT_FALSE(is_paused);
}

TEST_F(RunRegistryTest, TheLastWhoWaitsEndsIt) {
  KnownRun& run = *begin("a");
  {
    WorkReader watcher(run, 0, Bond::none, [] {});
    WorkReader first(run, 0, Bond::waits, [] {});
    {
      WorkReader second(run, 0, Bond::reads, [] {});
    }
    EXPECT_EQ(stops, 0);
  }
  EXPECT_EQ(stops, 1);
  RunTerms terms;
  terms.is_detached = true;
  KnownRun& detached = *begin("b", terms);
  {
    WorkReader reader(detached, 0, Bond::waits, [] {});
  }
  EXPECT_EQ(stops, 1);
}

TEST_F(RunRegistryTest, AReaderMayGoWhileOthersAreTold) {
  KnownRun& run = *begin("a");
  std::unique_ptr<WorkReader> other;
  WorkReader first(run, 0, Bond::none, [&] { other.reset(); });
  other = std::make_unique<WorkReader>(run, 0, Bond::none, [&] { FAIL() << "it has gone"; });
  std::unique_ptr<WorkReader> own;
  own = std::make_unique<WorkReader>(run, 0, Bond::none, [&] { own.reset(); });
  print("a", "x");
  EXPECT_EQ(other, nullptr);
  EXPECT_EQ(own, nullptr);
}

}  // namespace
}  // namespace wardcase::supervisor
