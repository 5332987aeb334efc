// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Programs that will not end: everything of a run is gone when its record is given.
// That nothing is left is checked after each test (leak_check.h).
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

using namespace std::chrono_literals;

class HostileLifetime : public WithCaller {
 protected:
  HostileLifetime() : shared_(caller()) {}
  [[nodiscard]] std::string shared_flag() const { return shared_.path().string() + ":/out:rw"; }
  [[nodiscard]] bool has_late_file() const { return std::filesystem::exists(late()); }
  [[nodiscard]] std::filesystem::path late() const { return shared_.path() / "late"; }

 private:
  ScratchDirectory shared_;
};
WARDCASE_AS_ROOT_AND_USER(HostileLifetime);

TEST_P(HostileLifetime, ADetachedGrandchildDiesWithItsRun) {
  const Record record = hostile("detached_grandchild", {"/out/late", "2000"},
                                {"--timeout", "800ms", "--grace", "100ms", "-v", shared_flag()});
  EXPECT_EQ(record.out(), "armed\n") << record;
  EXPECT_EQ(record.status(), "timeout");
  EXPECT_EQ(list_descendants(), "");
  std::this_thread::sleep_for(1500ms);
  EXPECT_FALSE(has_late_file());
}

TEST_P(HostileLifetime, TheGrandchildWouldWriteIfItWereLeftAlive) {
  const Record record = hostile("detached_grandchild", {"/out/late", "100"},
                                {"--timeout", "1s", "--grace", "100ms", "-v", shared_flag()});
  EXPECT_EQ(record.status(), "timeout") << record;
  EXPECT_TRUE(has_late_file());
}

TEST_P(HostileLifetime, AProgramThatIgnoresEverySignalIsKilledAfterTheGrace) {
  const Record record = hostile("term_ignorer", {}, {"--timeout", "200ms", "--grace", "300ms"});
  EXPECT_EQ(record.out(), "armed\n") << record;
  EXPECT_EQ(record.status(), "timeout");
  EXPECT_EQ(record.text("signal"), "SIGKILL");
  EXPECT_GE(record.number("duration_ms"), 500);
}

TEST_P(HostileLifetime, AProgramThatStopsItselfIsKilledAllTheSame) {
  const Record record = hostile("stopped_self", {}, {"--timeout", "200ms", "--grace", "100ms"});
  EXPECT_EQ(record.out(), "armed\n") << record;
  EXPECT_EQ(record.status(), "timeout");
}

TEST_P(HostileLifetime, ClosingAllOutputDoesNotEscapeTheTimeout) {
  const Record record = hostile("stdio_closer", {"/out/late", "1200"},
                                {"--timeout", "300ms", "--grace", "100ms", "-v", shared_flag()});
  EXPECT_EQ(record.out(), "armed\n") << record;
  EXPECT_EQ(record.status(), "timeout");
  std::this_thread::sleep_for(1500ms);
  EXPECT_FALSE(has_late_file());
}

TEST_P(HostileLifetime, ASilentChildThatHoldsTheOutputDoesNotDelayTheEnd) {
  const Record record = hostile("pipe_holder", {}, {"--timeout", "20s"});
  EXPECT_EQ(record.out(), "armed\n") << record;
  EXPECT_EQ(record.status(), "exited");
  EXPECT_GE(record.number("leftover_processes"), 1);
  EXPECT_LT(record.number("duration_ms"), 10'000);
}

TEST_P(HostileLifetime, OutputQueuedInASocketDoesNotDelayTheEnd) {
  const Record record = hostile("queued_pipe", {}, {"--timeout", "20s"});
  EXPECT_EQ(record.out(), "armed\n") << record;
  EXPECT_EQ(record.status(), "exited");
  EXPECT_LT(record.number("duration_ms"), 10'000);
}

TEST_P(HostileLifetime, InitSurvivesWhatTheProgramDoesToIt) {
  const Record record = hostile("init_killer");
  EXPECT_EQ(record.out(), "armed\nrefused\nrefused\n") << record;
  EXPECT_EQ(record.status(), "exited");
  EXPECT_EQ(record.number("exit_code"), 7);
}

}  // namespace
}  // namespace wardcase::test
