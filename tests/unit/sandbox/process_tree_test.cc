// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/process_tree.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

namespace wardcase::sandbox {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kBlock = std::size_t{32} << 20;

[[noreturn]] void wait_for_ever() {
  while (true) ::pause();
}

void use_memory() {
  void* block = ::mmap(nullptr, kBlock, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block != MAP_FAILED) std::memset(block, 1, kBlock);
}

void use_cpu(std::chrono::milliseconds time) {
  timespec spent = {};
  do {
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  } while (std::chrono::seconds(spent.tv_sec) + std::chrono::nanoseconds(spent.tv_nsec) < time);
}

// A child that plays init: it runs `body`, which says "ready" through the pipe.
// As every process of its tree dies with its parent, killing it ends all.
class Tree {
 public:
  template <typename Body>
  explicit Tree(Body body) {
    EXPECT_EQ(::pipe(pipe_.data()), 0);
    init_ = start([&] { body(*this); });
  }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  ~Tree() {
    (void)::kill(init_, SIGKILL);
    (void)::waitpid(init_, nullptr, 0);
    for (const int fd : pipe_) (void)::close(fd);
  }

  template <typename Body>
  static pid_t start(Body body) {
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
    body();
    ::_exit(0);
  }
  void say_ready() const { EXPECT_EQ(::write(pipe_[1], "r", 1), 1); }
  void await_ready(int times) const {
    char ready = 0;
    for (int i = 0; i < times; ++i) ASSERT_EQ(::read(pipe_[0], &ready, 1), 1);
  }
  [[nodiscard]] pid_t init() const { return init_; }

 private:
  std::array<int, 2> pipe_ = {-1, -1};
  pid_t init_ = -1;
};

TEST(ProcessTree, CountsAllBelowInit) {
  const Tree tree([](const Tree& self) {
    for (int i = 0; i < 3; ++i) {
      Tree::start([&] {
        Tree::start([&] {
          ::setsid();
          use_memory();
          self.say_ready();
          wait_for_ever();
        });
        wait_for_ever();
      });
    }
    wait_for_ever();
  });
  tree.await_ready(3);
  const TreeUsage usage = read_tree_usage(tree.init());
  EXPECT_EQ(usage.processes, 6U);
  EXPECT_EQ(usage.threads, 6U);
  EXPECT_GT(usage.resident_bytes, 3 * kBlock);
}

TEST(ProcessTree, FindsChildrenOfThreads) {
  const Tree tree([](const Tree& self) {
    Tree::start([&] {
      std::thread parent([&] {
        Tree::start([&] {
          self.say_ready();
          wait_for_ever();
        });
        wait_for_ever();
      });
      wait_for_ever();
    });
    wait_for_ever();
  });
  tree.await_ready(1);
  const TreeUsage usage = read_tree_usage(tree.init());
  EXPECT_EQ(usage.processes, 2U);
  EXPECT_EQ(usage.threads, 3U);
  const std::vector<pid_t> threads = list_tree_threads(tree.init());
  EXPECT_EQ(threads.size(), 3U);
  EXPECT_EQ(std::ranges::count(threads, tree.init()), 0);
}

TEST(ProcessTree, FindsManyChildren) {
  const Tree tree([](const Tree& self) {
    for (int i = 0; i < 300; ++i) {  // more text than one read of `children` takes
      Tree::start([&] {
        self.say_ready();
        wait_for_ever();
      });
    }
    wait_for_ever();
  });
  tree.await_ready(300);
  EXPECT_EQ(read_tree_usage(tree.init()).processes, 300U);
}

// A main thread that ended looks like a zombie without memory.
TEST(ProcessTree, SeesTheMemoryBehindADeadMainThread) {
  const Tree tree([](const Tree& self) {
    Tree::start([&] {
      std::thread rest([&] {
        use_memory();
        self.say_ready();
        wait_for_ever();
      });
      rest.detach();
      (void)::syscall(SYS_exit, 0);  // this thread alone
    });
    wait_for_ever();
  });
  tree.await_ready(1);
  const TreeUsage usage = read_tree_usage(tree.init());
  EXPECT_EQ(usage.processes, 1U);
  EXPECT_EQ(usage.threads, 1U);
  EXPECT_GT(usage.resident_bytes, kBlock);
}

TEST(ProcessTree, CountsTheCpuTimeOfTheLivingTheDeadAndTheReaped) {
  const Tree tree([](const Tree& self) {
    const pid_t reaped = Tree::start([] { use_cpu(100ms); });
    (void)::waitpid(reaped, nullptr, 0);
    const pid_t zombie = Tree::start([] { use_cpu(100ms); });
    siginfo_t info = {};
    (void)::waitid(P_PID, static_cast<id_t>(zombie), &info, WEXITED | WNOWAIT);
    Tree::start([&] {
      use_cpu(100ms);
      self.say_ready();
      wait_for_ever();
    });
    wait_for_ever();
  });
  tree.await_ready(1);
  const TreeUsage usage = read_tree_usage(tree.init());
  EXPECT_EQ(usage.processes, 1U);  // the zombie is none
  EXPECT_GE(usage.cpu, 270ms);     // three, each less a clock tick
  EXPECT_LE(usage.cpu, 500ms);
}

TEST(ProcessTree, SharesSharedPagesInPss) {
  const Tree tree([](const Tree& self) {
    use_memory();
    for (int i = 0; i < 2; ++i) {
      Tree::start([&] {
        self.say_ready();
        wait_for_ever();
      });
    }
    wait_for_ever();
  });
  tree.await_ready(2);
  const std::uint64_t proportional = read_tree_pss(tree.init());
  EXPECT_GT(proportional, kBlock / 2);  // two of three shares
  EXPECT_LT(proportional, read_tree_usage(tree.init()).resident_bytes * 3 / 4);
}

TEST(ProcessTree, OfAProcessThatIsGoneIsEmpty) {
  const pid_t pid = Tree::start([] {});
  ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
  const TreeUsage usage = read_tree_usage(pid);
  EXPECT_EQ(usage.processes, 0U);
  EXPECT_EQ(usage.cpu, 0us);
  EXPECT_EQ(read_tree_pss(pid), 0U);
}

}  // namespace
}  // namespace wardcase::sandbox
