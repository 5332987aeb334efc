// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <linux/wait.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <time.h>

#include <cerrno>

#include "sandbox/child.h"
#include "sandbox/sys/kernel.h"

// Pid 1 of the box. It reaps what is orphaned, tells how the program ended, and
// leaves the program itself unreaped: as long as the zombie stands, its process
// group's number can't be given to anybody else and may be signalled safely. When
// the supervisor's end of the life socket closes, or the backstop passes,
// init ends, and the kernel ends all that is inside with it.
namespace wardcase::sandbox {
namespace {

constexpr int kLife = 0;  // init's only two descriptors
constexpr int kSignals = 1;

// /proc/1/environ would show the supervisor's environment, secrets included.
int hide_init(Child& child) noexcept {
  if (::prctl(PR_SET_NAME, "init", 0, 0, 0) < 0) return errno;
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0) return errno;
  std::memset(child.arguments.begin, 0, child.arguments.size);
  return 0;
}

int keep_two_descriptors(Child& child) noexcept {
  const std::uint64_t child_ended = 1ULL << (SIGCHLD - 1);
  // SFD_NONBLOCK and SFD_CLOEXEC are those of open(2).
  const auto signals = static_cast<int>(
      ::syscall(SYS_signalfd4, -1, &child_ended, sizeof child_ended, SFD_NONBLOCK | SFD_CLOEXEC));
  if (signals < 0) return errno;
  const int life = child.fd(child.plan.life);
  if (::syscall(SYS_dup3, life, kLife, O_CLOEXEC) < 0) return errno;
  if (::syscall(SYS_dup3, signals, kSignals, O_CLOEXEC) < 0) return errno;
  child.channel = kLife;  // the setup socket goes: its end of file must mean the program's exec
  return sys::close_range(2, ~0U, 0) < 0 ? errno : 0;
}

int install_init_filter(Child& child) noexcept {
  auto filter = plan_list<sock_filter>(child.plan, child.plan.init_filter);
  if (filter.empty()) return 0;
  const sock_fprog program = {static_cast<unsigned short>(filter.size()), filter.data()};
  return sys::seccomp_set_filter(0, program) < 0 ? errno : 0;
}

constexpr Step kSteps[] = {
    {SetupStep::hide_init, hide_init},  // soonest: the program is about to run
    {SetupStep::drop_init_capabilities, drop_capabilities},
    {SetupStep::die_with_supervisor, die_with_parent},  // after the ids changed: that clears it
    {SetupStep::forbid_init_privileges, forbid_new_privileges},
    {SetupStep::keep_two_descriptors, keep_two_descriptors},
    {SetupStep::install_init_filter, install_init_filter},
};

std::uint64_t now_ms() noexcept {
  timespec now = {};
  (void)::syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000 +
         static_cast<std::uint64_t>(now.tv_nsec) / 1'000'000;
}

// The zombie that stays would hide all later ones from waitid: from here the
// kernel drops orphans by itself.
void let_orphans_vanish() noexcept {
  struct KernelAction {
    std::uint64_t handler, flags, restorer, mask;
  };
  const KernelAction ignore = {1, 0, 0, 0};  // SIG_IGN
  (void)::syscall(SYS_rt_sigaction, SIGCHLD, &ignore, nullptr, 8);
}

// True once the program's end was told.
bool reap(Child& child) noexcept {
  for (;;) {
    siginfo_t ended = {};
    if (::syscall(SYS_waitid, P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT, nullptr) < 0) {
      return false;
    }
    if (ended.si_pid == 0) return false;
    if (ended.si_pid == child.program) {
      child.report.end_code = ended.si_code;
      child.report.end_status = ended.si_status;
      (void)send_report(child, SetupMessage::Kind::program_ended, -1);
      let_orphans_vanish();
      return true;
    }
    (void)::syscall(SYS_waitid, P_PID, ended.si_pid, &ended, WEXITED | WNOHANG, nullptr);
  }
}

}  // namespace

void become_init(Child& child) noexcept {
  take_steps(child, kSteps, sizeof kSteps / sizeof kSteps[0]);
  const std::uint64_t end = now_ms() + child.plan.backstop_ms;
  bool told = false;
  for (;;) {
    const std::uint64_t now = now_ms();
    if (now >= end) ::_exit(1);
    const timespec wait = {static_cast<time_t>((end - now) / 1000),
                           static_cast<long>((end - now) % 1000 * 1'000'000)};
    pollfd ready[2] = {{kLife, POLLIN, 0}, {kSignals, POLLIN, 0}};
    const auto count = ::syscall(SYS_ppoll, ready, told ? 1 : 2, &wait, nullptr, 8);
    if (count < 0 && errno != EINTR) ::_exit(1);
    if (ready[0].revents != 0) ::_exit(0);  // nothing is ever said to us: it closed
    if (told || ready[1].revents == 0) continue;
    signalfd_siginfo signal = {};
    (void)!::read(kSignals, &signal, sizeof signal);
    told = reap(child);
  }
}

}  // namespace wardcase::sandbox
