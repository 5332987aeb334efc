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
// init ends, and the kernel ends all that is inside with it. Without a pid namespace
// init ends them itself, before it goes: as the parent of all orphans it has them as children in
// the end.
namespace wardcase::sandbox {
namespace {

constexpr int kLife = 0;  // init's only two descriptors, once the third has served
constexpr int kSignals = 1;
constexpr int kProgram = 2;
constexpr int kChildren = 3;  // the list of our children, where we have to look for them
constexpr std::uint64_t kEndingMs = 8000;  // for processes that the kernel holds

// /proc/1/environ would show the supervisor's environment, secrets included.
int hide_init(Child& child) noexcept {
  if (::prctl(PR_SET_NAME, "init", 0, 0, 0) < 0) return errno;
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0) return errno;
  std::memset(child.arguments.begin, 0, child.arguments.size);
  return 0;
}

// The kernel's list of our children: who has been killed leaves his own to us. `last`: what is
// kept.
int keep_list_of_children(Child& child, int* last) noexcept {
  if (child.plan.own_namespaces || child.plan.ends_by_signal) return 0;
  const auto list = static_cast<int>(
      sys::call(SYS_openat, AT_FDCWD, "/proc/thread-self/children", O_RDONLY | O_CLOEXEC, 0));
  if (list < 0) return errno;
  *last = kChildren;
  if (list == kChildren) return 0;
  return sys::call(SYS_dup3, list, kChildren, O_CLOEXEC) < 0 ? errno : 0;
}

int keep_descriptors(Child& child) noexcept {
  const std::uint64_t child_ended = 1ULL << (SIGCHLD - 1);
  // SFD_NONBLOCK and SFD_CLOEXEC are those of open(2).
  const auto signals = static_cast<int>(
      sys::call(SYS_signalfd4, -1, &child_ended, sizeof child_ended, SFD_NONBLOCK | SFD_CLOEXEC));
  if (signals < 0) return errno;
  const int life = child.fd(child.plan.life);
  if (sys::call(SYS_dup3, life, kLife, O_CLOEXEC) < 0) return errno;
  if (sys::call(SYS_dup3, signals, kSignals, O_CLOEXEC) < 0) return errno;
  if (sys::call(SYS_dup3, child.tell_program, kProgram, O_CLOEXEC) < 0) return errno;
  child.channel = kLife;  // the setup socket goes: its end of file must mean the program's exec
  int last = kProgram;
  if (const int error = keep_list_of_children(child, &last); error != 0) return error;
  return sys::close_range(static_cast<unsigned>(last) + 1, ~0U, 0) < 0 ? errno : 0;
}

// Before anything is told to end by a signal to everybody: it is a signal to the box alone. The
// supervisor stands for all others; who has its id, or could be root, reaches it if anybody.
int verify_signals(Child& child) noexcept {
  if (!child.plan.ends_by_signal) return 0;
  return sys::call(SYS_kill, child.plan.supervisor, 0) == 0 ? EPERM : 0;
}

int install_init_filter(Child& child) noexcept {
  auto filter = plan_list<sock_filter>(child.plan, child.plan.init_filter);
  if (filter.empty()) return 0;
  const sock_fprog program = {static_cast<unsigned short>(filter.size()), filter.data()};
  return sys::seccomp_set_filter(0, program) < 0 ? errno : 0;
}

// By sendmsg, which the filter has to let through anyway.
int release_program(Child&) noexcept {
  char armed = 1;
  iovec part = {&armed, 1};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (sys::call(SYS_sendmsg, kProgram, &message, MSG_NOSIGNAL) < 0) return errno;
  (void)::close(kProgram);
  return 0;
}

constexpr Step kStepsWithoutNamespaces[] = {
    {SetupStep::hide_init, hide_init},
    {SetupStep::drop_init_capabilities, drop_capabilities},
    // No death with the supervisor: the closing of its socket tells us of it.
    {SetupStep::forbid_init_privileges, forbid_new_privileges},
    {SetupStep::keep_descriptors, keep_descriptors},
    {SetupStep::verify_signals, verify_signals},  // after the capabilities, one of which may kill
    {SetupStep::install_init_filter, install_init_filter},
    {SetupStep::release_program, release_program},
};

constexpr Step kSteps[] = {
    {SetupStep::hide_init, hide_init},  // soonest: the program is about to run
    {SetupStep::drop_init_capabilities, drop_capabilities},
    {SetupStep::die_with_supervisor, die_with_parent},  // after the ids changed: that clears it
    {SetupStep::forbid_init_privileges, forbid_new_privileges},
    {SetupStep::keep_descriptors, keep_descriptors},
    {SetupStep::install_init_filter, install_init_filter},
    {SetupStep::release_program, release_program},  // nothing of ours can fail after it
};

std::uint64_t now_ms() noexcept {
  timespec now = {};
  (void)sys::call(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
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
  (void)sys::call(SYS_rt_sigaction, SIGCHLD, &ignore, nullptr, 8);
}

// What fails here has no one to be told to, and nobody else can do it: it is tried again, as long
// as it can be a passing want of memory.
template <typename Call>
auto insist(Call call) noexcept {
  constexpr int kTries = 1000;
  auto result = call();
  for (int i = 0; i < kTries && result < 0 && errno != ECHILD; ++i) result = call();
  return result;
}

// Nobody forks beside a signal to everybody: whoever is inside has it, or is born with it.
void kill_everybody() noexcept { (void)sys::call(SYS_kill, -1, SIGKILL); }

// Where such a signal would reach others: child after child, and those that they leave to us.
void kill_children() noexcept {
  char text[4096];
  const auto size = sys::call(SYS_pread64, kChildren, text, sizeof text, 0);
  pid_t pid = 0;
  for (long i = 0; i < size; ++i) {
    if (text[i] != ' ') {
      pid = pid * 10 + (text[i] - '0');
      continue;
    }
    (void)sys::call(SYS_kill, pid, SIGKILL);
    pid = 0;
  }
}

// Whether there is nobody left to wait for.
bool reap_all() noexcept {
  siginfo_t ended = {};
  do {
    ended.si_pid = 0;
    if (sys::call(SYS_waitid, P_ALL, 0, &ended, WEXITED | WNOHANG, nullptr) < 0) {
      return errno == ECHILD;
    }
  } while (ended.si_pid != 0);
  return false;
}

[[noreturn]] void leave(const Child& child, int status) noexcept {
  if (child.plan.own_namespaces) ::_exit(status);
  const timespec pause = {0, 1'000'000};
  for (const std::uint64_t end = now_ms() + kEndingMs; now_ms() < end;) {
    child.plan.ends_by_signal ? kill_everybody() : kill_children();
    if (reap_all()) break;
    (void)sys::call(SYS_ppoll, nullptr, 0, &pause, nullptr, 8);
  }
  ::_exit(status);
}

// True once the program's end was told.
bool reap(Child& child) noexcept {
  for (;;) {
    siginfo_t ended = {};
    const auto look = [&]() noexcept {
      return sys::call(SYS_waitid, P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT, nullptr);
    };
    if (insist(look) < 0) return false;
    if (ended.si_pid == 0) return false;
    if (ended.si_pid == child.program) {
      child.report.end_code = ended.si_code;
      child.report.end_status = ended.si_status;
      const auto tell = [&]() noexcept {
        return send_report(child, SetupMessage::Kind::program_ended, -1) == 0 ? 0 : -1;
      };
      if (insist(tell) < 0) leave(child, 1);  // the supervisor hears of that, at least
      let_orphans_vanish();
      return true;
    }
    const pid_t orphan = ended.si_pid;
    (void)insist([&]() noexcept {
      return sys::call(SYS_waitid, P_PID, orphan, &ended, WEXITED | WNOHANG, nullptr);
    });
  }
}

}  // namespace

void become_init(Child& child) noexcept {
  if (child.plan.own_namespaces) {
    take_steps(child, kSteps, sizeof kSteps / sizeof kSteps[0]);
  } else {
    take_steps(child, kStepsWithoutNamespaces,
               sizeof kStepsWithoutNamespaces / sizeof kStepsWithoutNamespaces[0]);
  }
  const std::uint64_t end = now_ms() + child.plan.backstop_ms;
  bool told = false;
  for (;;) {
    const std::uint64_t now = now_ms();
    if (now >= end) leave(child, 1);
    const timespec wait = {static_cast<time_t>((end - now) / 1000),
                           static_cast<long>((end - now) % 1000 * 1'000'000)};
    pollfd ready[2] = {{kLife, POLLIN, 0}, {kSignals, POLLIN, 0}};
    const auto count = insist(
        [&]() noexcept { return sys::call(SYS_ppoll, ready, told ? 1 : 2, &wait, nullptr, 8); });
    if (count < 0) leave(child, 1);
    if (ready[0].revents != 0) leave(child, 0);  // nothing is ever said to us: it closed
    if (told || ready[1].revents == 0) continue;
    signalfd_siginfo signal = {};
    (void)!::read(kSignals, &signal, sizeof signal);  // what it failed to take wakes us again
    told = reap(child);
  }
}

}  // namespace wardcase::sandbox
