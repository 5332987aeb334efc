// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/leased_user.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "sandbox/state_lock.h"
#include "sandbox/sys/kernel.h"
#include "sandbox/sys/unique_fd.h"
#include "tests/unit/sandbox/temporary_directory.h"

namespace wardcase::sandbox {
namespace {

// The last of the pool, as the program of a killed supervisor would still have it.
constexpr uid_t kId = IdLease::kPoolFirst + IdLease::kPoolCount - 1;

class Leftover {
 public:
  Leftover() : pid_(::fork()) {
    if (pid_ == 0) {
      if (sys::setresgid(kId) != 0 || sys::setresuid(kId) != 0) ::_exit(1);
      ::raise(SIGSTOP);
      ::_exit(0);
    }
    siginfo_t stopped = {};
    EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(pid_), &stopped, WSTOPPED), 0);
    EXPECT_EQ(stopped.si_code, CLD_STOPPED);
    pidfd_.reset(sys::pidfd_open(pid_));
  }
  ~Leftover() {
    (void)::kill(pid_, SIGKILL);
    (void)::waitpid(pid_, nullptr, 0);
  }
  Leftover(const Leftover&) = delete;
  Leftover& operator=(const Leftover&) = delete;

  [[nodiscard]] bool has_ended(int within_ms) const {
    pollfd ended = {pidfd_.get(), POLLIN, 0};
    return ::poll(&ended, 1, within_ms) == 1;
  }

 private:
  pid_t pid_;
  sys::UniqueFd pidfd_;
};

class LeasedUsers : public testing::Test {
 protected:
  void leave_lock() const {
    auto dead = StateLock::acquire(locks_.path(), std::to_string(kId));
    ASSERT_TRUE(dead) << dead.error().message();
    dead->leave();
  }
  [[nodiscard]] bool has_lock() const {
    return std::filesystem::exists(locks_.path() + "/" + std::to_string(kId));
  }
  test::TemporaryDirectory locks_;
};

TEST_F(LeasedUsers, OfADeadSupervisorAreEndedBeforeTheirIdIsFree) {
  if (::geteuid() != 0) {  // whose locks name ids that he can't become
    leave_lock();
    sweep_leased_ids(locks_.path());
    EXPECT_FALSE(has_lock());
    EXPECT_FALSE(end_all_of(kId));
    return;
  }
  const Leftover leftover;
  {
    const auto living = StateLock::acquire(locks_.path(), std::to_string(kId));
    sweep_leased_ids(locks_.path());
    EXPECT_TRUE(has_lock());
    EXPECT_FALSE(leftover.has_ended(100));
  }
  leave_lock();
  sweep_leased_ids(locks_.path());
  EXPECT_TRUE(leftover.has_ended(10'000));
  EXPECT_FALSE(has_lock());
}

TEST_F(LeasedUsers, AreEndedWhenADeadOnesIdIsLeasedAnew) {
  if (::geteuid() != 0) {
    leave_lock();
    EXPECT_TRUE(IdLease::take(locks_.path(), {kId, 1}));
    return;
  }
  const Leftover leftover;
  leave_lock();
  EXPECT_TRUE(IdLease::take(locks_.path(), {kId, 1}));
  EXPECT_TRUE(leftover.has_ended(10'000));
}

// Whoever has the id may stop the process that is to end it, at any moment.
TEST_F(LeasedUsers, AreEndedAlthoughTheyStopAllOfTheirId) {
  if (::geteuid() != 0) {
    EXPECT_FALSE(end_all_of(kId));
    return;
  }
  for (int i = 0; i < 300; ++i) {
    int armed[2];
    ASSERT_EQ(::pipe2(armed, O_CLOEXEC), 0);
    const pid_t stopper = ::fork();
    if (stopper == 0) {
      if (sys::setresgid(kId) != 0 || sys::setresuid(kId) != 0) ::_exit(1);
      ::close(armed[1]);
      for (;;) (void)::kill(-1, SIGSTOP);
    }
    ::close(armed[1]);
    char none = 0;
    EXPECT_EQ(::read(armed[0], &none, 1), 0);  // its end of the pipe goes when it is armed
    ::close(armed[0]);
    EXPECT_TRUE(end_all_of(kId));
    siginfo_t ended = {};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(stopper), &ended, WEXITED), 0);
    EXPECT_EQ(ended.si_status, SIGKILL);
  }
}

}  // namespace
}  // namespace wardcase::sandbox
