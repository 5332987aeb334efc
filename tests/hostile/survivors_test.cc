// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Programs that leave somebody behind when they end. Outside, each of them writes its
// file; of a run nothing is there any more when the record is.
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "tests/support/hostile_test.h"

namespace wardcase::test {
namespace {

using namespace std::chrono_literals;

class HostileSurvivors : public HostileTest {
 protected:
  static void expect_gone(const std::string& way, std::string_view what) {
    declare_attack("outlive the program: " + std::string(what),
                   "init's death ends its pid namespace");
    const ScratchDirectory shared(caller());
    const std::string late = shared.path() / "late";
    EXPECT_EQ(outside("survivor", {way, late, "100"}).out(), "armed\n");
    EXPECT_TRUE(control_works(eventually([&] { return std::filesystem::exists(late); })));
    std::filesystem::remove(late);
    EXPECT_TRUE(eventually([] { return list_descendants().empty(); }));
    std::filesystem::remove(late);  // there were more of them

    // Longer than it takes to start them all, in a slow guest as well.
    const std::chrono::milliseconds delay = way == "many" ? 3000ms : 300ms;
    const Record record = hostile("survivor", {way, "/out/late", std::to_string(delay.count())},
                                  {"-v", shared.path().string() + ":/out:rw", "--timeout", "20s"});
    EXPECT_EQ(list_descendants(), "");
    EXPECT_EQ(record.out(), "armed\n") << record;
    EXPECT_EQ(record.status(), "exited");
    EXPECT_GE(record.number("leftover_processes"), 1) << record;
    std::this_thread::sleep_for(delay + 100ms);
    EXPECT_FALSE(std::filesystem::exists(late));
  }
};
WARDCASE_AS_ROOT_AND_USER(HostileSurvivors);

TEST_P(HostileSurvivors, InASessionOfTheirOwn) { expect_gone("session", "in its own session"); }
TEST_P(HostileSurvivors, ByADoubleFork) { expect_gone("orphan", "by a double fork"); }
TEST_P(HostileSurvivors, IgnoringSignals) { expect_gone("nohup", "ignoring all signals"); }
TEST_P(HostileSurvivors, Stopped) { expect_gone("stopped", "stopped till later"); }
TEST_P(HostileSurvivors, WithoutDescriptors) { expect_gone("silent", "all descriptors closed"); }
TEST_P(HostileSurvivors, AsAChildOfVfork) { expect_gone("vfork", "parent held in vfork"); }
TEST_P(HostileSurvivors, AsALaterThread) { expect_gone("thread", "its first thread gone"); }
TEST_P(HostileSurvivors, AsAZombieThatLives) { expect_gone("zombie", "a zombie with a thread"); }
TEST_P(HostileSurvivors, SixtyFourAtOnce) { expect_gone("many", "sixty-four at once"); }

}  // namespace
}  // namespace wardcase::test
