// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>

#include "tests/support/leak_check.h"
#include "tests/support/observed_run.h"
#include "tests/support/workplace.h"

// The Run as an object on a loop that somebody else owns, as a server has it.
namespace wardcase::test {
namespace {

using supervisor::EventLoop;
using supervisor::Host;
using supervisor::RunStatus;

[[maybe_unused]] const bool kLeavesNothing = install_leak_check();

class RunObject : public testing::Test {
 protected:
  RunObject() : created_(EventLoop::create()) {}
  [[nodiscard]] EventLoop& loop() { return *created_; }

  Host host_;

 private:
  sys::Result<EventLoop> created_;
};

TEST_F(RunObject, TwoRunsShareALoop) {
  int left = 2;
  const auto done = [&] {
    if (--left == 0) loop().stop();
  };
  Remembered first(done);
  Remembered second(done);
  supervisor::Run one(loop(), host_);
  supervisor::Run two(loop(), host_);
  one.start(spec_of({"/bin/echo", "one"}), first);
  two.start(spec_of({"/bin/sh", "-c", "echo two; exit 3"}), second);
  ASSERT_TRUE(loop().run());
  EXPECT_EQ(first.output, "one\n");
  EXPECT_EQ(second.output, "two\n");
  EXPECT_EQ(first.record.exit_code, 0);
  EXPECT_EQ(second.record.exit_code, 3);
  EXPECT_NE(first.record.id, second.record.id);
}

TEST_F(RunObject, StoppedBeforeItsFirstTurnRunsNothing) {
  Remembered told([&] { loop().stop(); });
  supervisor::Run run(loop(), host_);
  run.start(spec_of({"/bin/echo", "ran"}), told);
  run.stop(SIGTERM);
  ASSERT_TRUE(loop().run());
  EXPECT_EQ(told.record.status, RunStatus::stopped);
  EXPECT_EQ(told.record.id.substr(0, 4), "run_");
  EXPECT_EQ(told.output, "");
  EXPECT_EQ(told.starts, 0);
  EXPECT_EQ(told.ends, 1);
}

TEST_F(RunObject, StoppedTwiceSkipsTheGrace) {
  Remembered told([&] { loop().stop(); });
  supervisor::Run run(loop(), host_);
  supervisor::RunSpec spec =
      spec_of({"/bin/sh", "-c", "trap '' TERM; echo up; while :; do :; done"});
  spec.limits.require(policies::LimitId::grace, 30'000);
  run.start(std::move(spec), told);
  bool is_stopped = false;
  std::function<void()> watch = [&] {
    if (told.output == "up\n" && !is_stopped) {
      is_stopped = true;
      run.stop(SIGINT);
      run.stop(SIGINT);
    }
    if (!is_stopped) loop().at(supervisor::Clock::now() + std::chrono::milliseconds(5), watch);
  };
  watch();
  ASSERT_TRUE(loop().run());
  EXPECT_EQ(told.record.status, RunStatus::stopped);
  EXPECT_EQ(told.record.stop_signal, SIGINT);
  EXPECT_LT(told.record.duration, std::chrono::seconds(20));
}

TEST_F(RunObject, DestroyedWhileItRunsLeavesNothing) {
  Remembered told([] {});
  std::optional<supervisor::Run> run(std::in_place, loop(), host_);
  run->start(spec_of({"/bin/sh", "-c", "sleep 100 & sleep 100"}), told);
  const auto latest = supervisor::Clock::now() + std::chrono::seconds(10);
  std::function<void()> watch = [&] {
    const auto now = supervisor::Clock::now();
    if (told.starts > 0 || now > latest) return loop().stop();
    loop().at(now + std::chrono::milliseconds(5), watch);
  };
  watch();
  ASSERT_TRUE(loop().run());
  EXPECT_EQ(told.starts, 1);
  run.reset();
  EXPECT_EQ(told.ends, 0);
}

// Its first look takes several turns of the loop; the second case is the control.
TEST_F(RunObject, AWritableMountThatIsReplacedWhileItIsLookedAtIsRefused) {
  for (const bool is_replaced : {true, false}) {
    const ScratchDirectory place(Caller::root);
    const std::filesystem::path path = place.path() / "shared";
    std::filesystem::create_directory(path);
    for (int i = 0; i < 20'000; ++i) std::ofstream(path / std::to_string(i)).put('x');
    supervisor::RunSpec spec = spec_of({"/bin/echo", "ran"});
    spec.mounts = {{path, "/data", policies::MountMode::read_write}};
    Remembered told([&] { loop().stop(); });
    supervisor::Run run(loop(), host_);
    run.start(std::move(spec), told);
    const auto replace = [&] {
      std::filesystem::rename(path, place.path() / "elsewhere");
      std::filesystem::create_directory(path);
    };
    if (is_replaced) loop().post(replace);  // after the first slice of the look
    ASSERT_TRUE(loop().run());
    EXPECT_EQ(told.output, is_replaced ? "" : "ran\n");
    EXPECT_EQ(told.record.error.find("another in its place") != std::string::npos, is_replaced)
        << told.record.error;
  }
}

TEST_F(RunObject, WithoutAProgramIsAnInvalidRequest) {
  Remembered told([&] { loop().stop(); });
  supervisor::Run run(loop(), host_);
  run.start(spec_of({}), told);
  ASSERT_TRUE(loop().run());
  EXPECT_EQ(told.record.status, RunStatus::invalid_request);
}

TEST_F(RunObject, ALimitThatNothingCanEnforceIsRefused) {
  Remembered told([&] { loop().stop(); });
  supervisor::Run run(loop(), host_);
  supervisor::RunSpec spec = spec_of({"/bin/echo", "ran"});
  spec.limits.require(policies::LimitId::cpus, 500);
  run.start(std::move(spec), told);
  ASSERT_TRUE(loop().run());
  if (host_.can_choose_ids()) {  // a cpu control group holds it
    EXPECT_EQ(told.record.status, RunStatus::exited) << told.record.error;
  } else {
    EXPECT_EQ(told.record.status, RunStatus::setup_failed);
    EXPECT_NE(told.record.error.find("--cpus"), std::string::npos) << told.record.error;
    EXPECT_EQ(told.output, "");
  }
}

}  // namespace
}  // namespace wardcase::test
