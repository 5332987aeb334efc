// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/process_tree.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

#include "sandbox/sys/unique_fd.h"

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

// A child that plays init in a pid namespace of its own, with a /proc that shows it:
// it runs `body`, which says "ready" through the pipe. Killing it ends all.
class Tree {
 public:
  template <typename Body>
  explicit Tree(Body body) {
    EXPECT_EQ(::pipe(pipe_.data()), 0);
    init_ = static_cast<pid_t>(
        ::syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | SIGCHLD, 0, 0, 0, 0));
    if (init_ == 0) {
      (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::mount("proc", "/proc", "proc", 0, nullptr) == 0) {
        say_ready();
        body(*this);
      }
      ::_exit(0);
    }
    (void)::close(pipe_[1]);  // so that await_ready() ends if init does
    await_ready(1);
    const std::string proc = "/proc/" + std::to_string(init_) + "/root/proc";
    proc_.reset(::open(proc.c_str(), O_PATH | O_CLOEXEC));
    EXPECT_TRUE(proc_.is_open());
  }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  ~Tree() {
    end();
    (void)::close(pipe_[0]);
  }

  template <typename Body>
  static pid_t start(Body body) {
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    body();
    ::_exit(0);
  }
  void end() {
    if (init_ <= 0) return;
    (void)::kill(init_, SIGKILL);
    (void)::waitpid(std::exchange(init_, -1), nullptr, 0);
  }
  void say_ready() const { EXPECT_EQ(::write(pipe_[1], "r", 1), 1); }
  void await_ready(int times) const {
    char ready = 0;
    for (int i = 0; i < times; ++i) ASSERT_EQ(::read(pipe_[0], &ready, 1), 1);
  }
  [[nodiscard]] pid_t init() const { return init_; }
  [[nodiscard]] int proc() const { return proc_.get(); }

 private:
  std::array<int, 2> pipe_ = {-1, -1};
  pid_t init_ = -1;
  sys::UniqueFd proc_;
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
  const TreeUsage usage = read_tree_usage({tree.proc()});
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
  const TreeUsage usage = read_tree_usage({tree.proc()});
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
  EXPECT_EQ(read_tree_usage({tree.proc()}).processes, 300U);
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
  const TreeUsage usage = read_tree_usage({tree.proc()});
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
  const TreeUsage usage = read_tree_usage({tree.proc()});
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
  const std::uint64_t proportional = read_tree_pss({tree.proc()});
  EXPECT_GT(proportional, kBlock / 2);  // two of three shares
  EXPECT_LT(proportional, read_tree_usage({tree.proc()}).resident_bytes * 3 / 4);
}

// Its listing does not depend on who is whose parent: a walk from init downwards
// misses what changes its parent meanwhile.
TEST(ProcessTree, FindsWhatLostItsParent) {
  const Tree tree([](const Tree& self) {
    const pid_t parent = Tree::start([] { Tree::start([] { wait_for_ever(); }); });
    (void)::waitpid(parent, nullptr, 0);
    self.say_ready();
    wait_for_ever();
  });
  tree.await_ready(1);
  EXPECT_EQ(read_tree_usage({tree.proc()}).processes, 1U);
}

// The process limit counts zombies, too.
TEST(ProcessTree, CountsThreadsAndZombiesAsTasks) {
  const Tree tree([](const Tree& self) {
    Tree::start([&] {
      const pid_t zombie = Tree::start([] {});
      siginfo_t info = {};
      (void)::waitid(P_PID, static_cast<id_t>(zombie), &info, WEXITED | WNOWAIT);
      std::thread second(wait_for_ever);
      self.say_ready();
      wait_for_ever();
    });
    wait_for_ever();
  });
  tree.await_ready(1);
  const TreeUsage usage = read_tree_usage({tree.proc()});
  EXPECT_EQ(usage.threads, 2U);
  EXPECT_EQ(usage.tasks, 3U);
}

TEST(ProcessTree, OfABoxThatIsGoneIsEmpty) {
  Tree tree([](const Tree&) { wait_for_ever(); });
  tree.end();
  for (const int proc : {tree.proc(), -1}) {
    const TreeUsage usage = read_tree_usage({proc});
    EXPECT_EQ(usage.processes, 0U);
    EXPECT_EQ(usage.cpu, 0us);
    EXPECT_EQ(read_tree_pss({proc}), 0U);
  }
}

}  // namespace
}  // namespace wardcase::sandbox
