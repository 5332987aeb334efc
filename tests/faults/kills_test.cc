// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// The supervisor is killed at any moment of a run, its launch and its end included: what is in
// the box dies within a second, other runs go on, and the next start sweeps what is left.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <iostream>
#include <memory>
#include <random>
#include <thread>

#include "tests/faults/effort.h"
#include "tests/faults/traced_run.h"
#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

// It lives as long as the test, and says at its end that it did.
constexpr const char* kBystander = "trap 'echo unhurt; exit 0' TERM; sleep 600 & echo up; wait";

class Kills : public WithCaller {
 protected:
  void SetUp() override {
    WithCaller::SetUp();
    if (IsSkipped()) return;
    bystander_ = std::make_unique<Running>(
        run_command({"--timeout", "600s", "--grace", "10s", "-l", "bash", "-c", kBystander})
            .start());
    ASSERT_TRUE(bystander_->wait_for(Channel::out, "up\n"));
    ASSERT_TRUE(eventually([] { return list_descendants().find("(sleep)") != std::string::npos; }));
    processes_ = list_descendants();
    cgroups_ = list_cgroups();
    files_ = list_runtime_files();
  }

  void TearDown() override {
    if (bystander_ == nullptr) return;
    bystander_->signal(SIGTERM);
    const Outcome outcome = bystander_->finish();
    EXPECT_EQ(outcome.out(), "up\nunhurt\n") << outcome;
    EXPECT_EQ(outcome.exit_code, 128 + SIGTERM) << outcome;
  }

  // Four children that ignore SIGTERM, each in a session of its own.
  [[nodiscard]] static Command victim() {
    return run_command({Workplace::get().program("ending").string(), "family", "4", "20"});
  }

  // Looked at more than once: while orphans get a new parent a single look can miss them.
  void expect_that_nothing_survives(const std::string& moment) {
    constexpr int kLooks = 5;
    const auto killed = steady_clock::now();
    std::string left;
    auto gone = killed;
    for (int calm = 0; calm < kLooks && steady_clock::now() < killed + 1s;) {
      left = list_descendants();
      if (left == processes_) {
        if (calm++ == 0) gone = steady_clock::now();
      } else {
        calm = 0;
      }
      std::this_thread::sleep_for(1ms);
    }
    longest_ = std::max(longest_, gone - killed);
    EXPECT_EQ(left, processes_) << moment;
  }

  void expect_that_the_next_start_sweeps(const std::string& moment) {
    EXPECT_EQ(run({"--", "true"}).exit_code, 0) << moment;
    EXPECT_EQ(list_cgroups(), cgroups_) << moment;
    EXPECT_EQ(list_runtime_files(), files_) << moment;
  }

  void tell_longest(std::size_t kills) const {
    std::cout << caller() << ": " << kills << " kills, all gone after "
              << std::chrono::duration_cast<std::chrono::milliseconds>(longest_).count()
              << " ms at most\n";
  }

  std::mt19937 random_{Effort::get().seed()};

 private:
  std::unique_ptr<Running> bystander_;
  std::string processes_;
  std::string cgroups_;
  std::string files_;
  steady_clock::duration longest_{0};
};
WARDCASE_AS_ROOT_AND_USER(Kills);

TEST_P(Kills, WhatDiesWasAlive) {
  const auto victim =
      run_command({Workplace::get().program("ending").string(), "family", "4", "60000"});
  Running running = victim.start();
  const auto family = [] {
    const std::string all = list_descendants();
    std::size_t found = 0;
    for (std::size_t at = 0; (at = all.find("(ending)", at)) != std::string::npos; ++at) ++found;
    return found;
  };
  EXPECT_TRUE(eventually([&] { return family() == 5; })) << list_descendants();
  running.signal(SIGKILL);
  expect_that_nothing_survives("while it runs");
  (void)running.finish();
  expect_that_the_next_start_sweeps("while it runs");
}

TEST_P(Kills, AtAMomentOfItsTime) {
  const auto start = steady_clock::now();
  ASSERT_EQ(victim().finish().exit_code, 3);
  const auto whole =
      std::chrono::duration_cast<std::chrono::microseconds>(steady_clock::now() - start);
  std::uniform_int_distribution<long> moments(0, whole.count() * 11 / 10);
  const std::size_t count = Effort::get().kills() / 2;
  for (std::size_t i = 0; i < count; ++i) {
    const std::chrono::microseconds moment(moments(random_));
    const std::string name = std::to_string(moment.count()) + " us after the start";
    {
      Running running = victim().start();
      std::this_thread::sleep_for(moment);
      running.signal(SIGKILL);
      (void)running.ends_unread(10s);
      expect_that_nothing_survives(name);
      (void)running.finish();
    }
    expect_that_the_next_start_sweeps(name);
  }
  tell_longest(count);
}

TEST_P(Kills, AtASystemCallOfAnyOfItsProcesses) {
  const TracedOutcome whole = run_traced(victim());
  ASSERT_EQ(whole.outcome.exit_code, 3) << whole.outcome;
  std::uniform_int_distribution<std::size_t> calls(0, whole.calls.size() - 1);
  const std::size_t count = Effort::get().kills() - Effort::get().kills() / 2;
  std::size_t hit = 0;  // not where the loop turned less often
  for (std::size_t i = 0; i < count; ++i) {
    const CallSite& site = whole.calls[calls(random_)];
    const std::string name =
        site.process + ", call " + std::to_string(site.call) + ", " + std::to_string(site.nth);
    const TracedOutcome killed = run_traced(victim(), {}, site);
    if (killed.was_hit) ++hit;
    EXPECT_EQ(killed.left, "") << name;
    expect_that_nothing_survives(name);
    expect_that_the_next_start_sweeps(name);
  }
  EXPECT_GE(2 * hit, count);
  tell_longest(count);
}

}  // namespace
}  // namespace wardcase::test
