// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "sandbox/cgroup.h"
#include "sandbox/sys/files.h"

namespace wardcase::test {

using sandbox::Cgroup;
using sandbox::CgroupHost;
using sandbox::CgroupLimits;

[[nodiscard]] inline std::string read_group_file(const std::string& path) {
  return sys::read_file(AT_FDCWD, path.c_str()).value_or("missing");
}

enum class Layout : std::uint8_t { v1, hybrid, v2 };

// The real groups are made below directories of their own, one in each hierarchy,
// given to CgroupHost as if they were mount points: what the tests do can't reach
// the groups of real runs, and nothing is left behind.
class RealCgroup : public testing::TestWithParam<Layout> {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    const auto real = CgroupHost::discover(read_group_file("/proc/self/mountinfo"));
    std::string mountinfo;
    for (const auto& hierarchy : real.hierarchies()) {
      const bool unified = hierarchy.controller.empty();
      if (GetParam() == (unified ? Layout::v1 : Layout::v2)) continue;
      const std::string own =
          hierarchy.mount_point + "/wardcase-unit-" + std::to_string(::getpid());
      if (::mkdir(own.c_str(), 0755) < 0 && errno != EEXIST) continue;
      own_[hierarchy.controller] = own;
      mountinfo += "1 1 0:1 / " + own + " rw - ";
      mountinfo += unified ? "cgroup2 x rw\n" : "cgroup x rw," + hierarchy.controller + "\n";
    }
    if (GetParam() != Layout::v1 && own_.count("") == 0) GTEST_SKIP() << "no v2 tree";
    host_ = CgroupHost::discover(mountinfo);
    if (GetParam() == Layout::v2) return;
    for (const char* needed : {"memory", "pids", "cpu", "cpuacct", "freezer"}) {
      if (own_.count(needed) == 0) GTEST_SKIP() << "no v1 controller " << needed;
    }
  }

  void TearDown() override {
    for (const pid_t pid : children_) {
      (void)::kill(pid, SIGKILL);
      (void)::waitpid(pid, nullptr, 0);
    }
    for (const auto& [controller, own] : own_) {
      (void)::rmdir((own + "/wardcase").c_str());
      (void)::rmdir(own.c_str());
      EXPECT_FALSE(std::filesystem::exists(own)) << own;
    }
  }

  std::unique_ptr<Cgroup> create(const CgroupLimits& limits, const std::string& leaf = "lock.1") {
    std::string why;
    auto cgroup = host_.create(leaf, limits, &why);
    EXPECT_TRUE(cgroup) << cgroup.error().message();
    return cgroup ? std::move(*cgroup) : nullptr;
  }

  // Runs `body` in a child that was born in the v2 leaf and entered the others by itself.
  pid_t start(const Cgroup& cgroup, const std::function<void()>& body) {
    clone_args args = {};
    args.exit_signal = SIGCHLD;
    if (cgroup.clone_into_fd() >= 0) {
      args.flags = CLONE_INTO_CGROUP;
      args.cgroup = static_cast<decltype(args.cgroup)>(cgroup.clone_into_fd());
    }
    const auto pid = static_cast<pid_t>(::syscall(SYS_clone3, &args, sizeof args));
    if (pid == 0) {
      for (const int tasks : cgroup.tasks_fds()) {
        if (::write(tasks, "0", 1) != 1) ::_exit(99);
      }
      body();
      ::_exit(0);
    }
    EXPECT_GT(pid, 0);
    children_.push_back(pid);
    return pid;
  }

  int wait_for(pid_t pid) {
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    children_.erase(std::find(children_.begin(), children_.end(), pid));
    return status;
  }

  static void remove(Cgroup& cgroup) {
    for (int tries = 0; tries < 1000; ++tries) {
      const auto removed = cgroup.remove();
      if (removed) return;
      ASSERT_EQ(removed.error().code, EBUSY) << removed.error().message();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    FAIL() << "the leaf stays busy";
  }

  // Not each hierarchy has a leaf.
  [[nodiscard]] std::ptrdiff_t count_inside() const {
    std::ptrdiff_t most = 0;
    for (const auto& [controller, directory] : own_) {
      std::ifstream procs(leaf_file(controller, "cgroup.procs"));
      most = std::max(most, std::count(std::istreambuf_iterator<char>(procs), {}, '\n'));
    }
    return most;
  }

  [[nodiscard]] std::string leaf_file(const std::string& controller, const char* file) const {
    return own_.at(controller) + "/wardcase/lock.1/" + file;
  }

  std::map<std::string, std::string> own_;  // our directory in each hierarchy
  CgroupHost host_;
  std::vector<pid_t> children_;
};

[[noreturn]] inline void wait_for_ever() {
  while (true) ::pause();
}

}  // namespace wardcase::test
