// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// What holds with the groups of every version, controllers or not.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "sandbox/cgroup.h"
#include "sandbox/state_lock.h"
#include "tests/unit/sandbox/real_cgroup.h"
#include "tests/unit/sandbox/temporary_directory.h"

namespace wardcase::sandbox {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::Layout;
using test::RealCgroup;
using test::TemporaryDirectory;
using test::wait_for_ever;

TEST_P(RealCgroup, KillsAllOfItFrozenOrNot) {
  for (const bool frozen : {false, true}) {
    const auto cgroup = create({});
    ASSERT_NE(cgroup, nullptr);
    const pid_t init = start(*cgroup, [] {
      for (int i = 0; i < 20; ++i) {
        if (::fork() != 0) continue;
        (void)::setsid();
        wait_for_ever();
      }
      wait_for_ever();
    });
    while (count_inside() != 21) std::this_thread::sleep_for(1ms);
    if (frozen) {
      EXPECT_TRUE(cgroup->set_frozen(true));
    }
    const auto killed = cgroup->kill();
    EXPECT_TRUE(killed) << killed.error().message();
    EXPECT_EQ(wait_for(init), SIGKILL);
    remove(*cgroup);
  }
}

TEST_P(RealCgroup, CountsCpuTimeAndStopsItWhenFrozen) {
  const auto cgroup = create({});
  ASSERT_NE(cgroup, nullptr);
  (void)start(*cgroup, [] {
    for (volatile bool spin = true; spin;) {
    }
  });
  const auto until = std::chrono::steady_clock::now() + 10s;
  while (cgroup->read_usage().cpu <= 5ms && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_TRUE(cgroup->set_frozen(true));
  std::this_thread::sleep_for(50ms);
  const auto frozen_at = cgroup->read_usage().cpu;
  ASSERT_TRUE(frozen_at.has_value());
  EXPECT_GT(*frozen_at, 5ms);
  std::this_thread::sleep_for(50ms);
  EXPECT_LE(*cgroup->read_usage().cpu, *frozen_at + 2ms);
  EXPECT_TRUE(cgroup->set_frozen(false));
  std::this_thread::sleep_for(50ms);
  EXPECT_GT(*cgroup->read_usage().cpu, *frozen_at);
  EXPECT_TRUE(cgroup->kill());
  remove(*cgroup);
}

TEST_P(RealCgroup, SweepsABoxThatOutlivedItsSupervisor) {
  const TemporaryDirectory locks;
  const auto cgroup = create({.pids = 10});
  ASSERT_NE(cgroup, nullptr);
  const pid_t left = start(*cgroup, wait_for_ever);
  while (count_inside() != 1) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(cgroup->set_frozen(true));
  {
    const auto live = StateLock::acquire(locks.path(), "lock");
    ASSERT_TRUE(live) << live.error().message();
    EXPECT_EQ(host_.sweep(locks.path()), 0);
  }
  // The lock is nowhere: it may be in the runtime directory of another container.
  EXPECT_EQ(host_.sweep(locks.path()), 0);
  EXPECT_EQ(::kill(left, 0), 0);
  // The file of a dead supervisor stays, and nobody holds it.
  { const sys::UniqueFd dead(::open((locks.path() + "/lock").c_str(), O_CREAT | O_WRONLY, 0600)); }
  EXPECT_EQ(host_.sweep(locks.path()), 1);
  EXPECT_EQ(wait_for(left), SIGKILL);
  for (const auto& [controller, own] : own_) {
    EXPECT_FALSE(fs::exists(own + "/wardcase/lock.1")) << controller;
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, RealCgroup,
                         testing::Values(Layout::v1, Layout::hybrid, Layout::v2),
                         [](const auto& layout) {
                           if (layout.param == Layout::v2) return "v2";
                           return layout.param == Layout::v1 ? "v1" : "hybrid";
                         });

}  // namespace
}  // namespace wardcase::sandbox
