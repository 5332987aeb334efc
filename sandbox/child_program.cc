// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>

#include <cerrno>

#include "sandbox/child.h"
#include "sandbox/launch_request.h"
#include "sandbox/notified_answers.h"
#include "sandbox/sys/kernel.h"
#include "sandbox/sys/retry.h"

namespace wardcase::sandbox {
namespace {

// Away from the caller's terminal, which could be pushed input into, and a process
// group of its own to signal. Here and not before the fork: pid 2 would be left in init's group.
int start_session(Child&) noexcept { return sys::call(SYS_setsid) < 0 ? errno : 0; }

int verify_capabilities(Child& child) noexcept {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2] = {};
  if (sys::capget(header, sets) < 0) return errno;
  for (const __user_cap_data_struct& set : sets) {
    if ((set.effective | set.permitted | set.inheritable) != 0) return EPERM;
  }
  for (unsigned long capability = 0; capability < child.plan.capability_count; ++capability) {
    const int bounding =
        child.plan.has_privilege ? ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) : 0;
    const int ambient = ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, capability, 0, 0);
    if (bounding < 0 || ambient < 0) return errno;
    if (bounding != 0 || ambient != 0) return EPERM;
  }
  return 0;
}

// A second wall behind the mounts: what is not granted here can't be opened
// even where a mount would let it. Rules are made from paths of the finished box.
int restrict_paths(Child& child) noexcept {
  LaunchPlan& plan = child.plan;
  if (!plan.use_landlock) return 0;
  const sys::LandlockRuleset attr = {plan.landlock_handled, plan.landlock_net,
                                     plan.landlock_scoped};
  const int ruleset = sys::landlock_create_ruleset(&attr, plan.landlock_size, 0);
  if (ruleset < 0) return errno;
  for (const PlanPathRule& rule : plan_list<PlanPathRule>(plan, plan.path_rules)) {
    child.object = rule.path;
    int fd = child.fd(rule.opened);
    if (fd < 0) {
      fd = static_cast<int>(
          sys::call(SYS_openat, AT_FDCWD, plan_text(plan, rule.path), O_PATH | O_CLOEXEC, 0));
    }
    if (fd < 0) return errno;
    landlock_path_beneath_attr beneath = {};
    beneath.allowed_access = rule.access;
    beneath.parent_fd = fd;
    if (sys::landlock_add_path_rule(ruleset, beneath) < 0) return errno;
    (void)::close(fd);
  }
  child.object = 0;
  const int error = sys::landlock_restrict_self(ruleset) < 0 ? errno : 0;
  (void)::close(ruleset);
  return error;
}

// In a box of namespaces the supervisor does it for init and all below. Here init must outlive the
// others, whom nobody else could end.
int offer_to_oom_killer(Child& child) noexcept {
  if (child.plan.own_namespaces) return 0;
  const auto fd = static_cast<int>(
      sys::call(SYS_openat, AT_FDCWD, "/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC, 0));
  if (fd < 0) return errno;
  const auto written = sys::retry_eintr([&]() noexcept { return ::write(fd, "1000", 4); });
  const int error = written < 0 ? errno : 0;
  (void)::close(fd);
  return error;
}

// Nothing is raised above the hard limit that we came with: root without
// CAP_SYS_RESOURCE can't, and need not.
int set_rlimit(const PlanRlimit& wanted) noexcept {
  rlimit64 limit = {};
  if (sys::call(SYS_prlimit64, 0, wanted.resource, nullptr, &limit) < 0) return errno;
  if (wanted.hard < limit.rlim_max) limit.rlim_max = wanted.hard;
  limit.rlim_cur = wanted.soft < limit.rlim_max ? wanted.soft : limit.rlim_max;
  return sys::call(SYS_prlimit64, 0, wanted.resource, &limit, nullptr) < 0 ? errno : 0;
}

int set_rlimits(Child& child) noexcept {
  for (const PlanRlimit& wanted : plan_list<PlanRlimit>(child.plan, child.plan.rlimits)) {
    if (wanted.resource == RLIMIT_NOFILE) continue;
    if (const int error = set_rlimit(wanted); error != 0) return error;
  }
  return 0;
}

// A limit of its own: the kernel also holds by it how many descriptors of one user may be
// on their way through sockets, those of other runs included.
int limit_files(Child& child) noexcept {
  for (const PlanRlimit& wanted : plan_list<PlanRlimit>(child.plan, child.plan.rlimits)) {
    if (wanted.resource != RLIMIT_NOFILE) continue;
    if (const int error = set_rlimit(wanted); error != 0) return error;
  }
  return 0;
}

// An ignored signal survives exec, and so does the mask: both back to nothing.
// By the kernel's structure: the C library's keeps two signals for itself.
int reset_signals(Child&) noexcept {
  struct KernelAction {
    std::uint64_t handler, flags, restorer, mask;
  };
  const KernelAction standard = {};
  for (int signal = 1; signal <= 64; ++signal) {
    if (signal == SIGKILL || signal == SIGSTOP) continue;
    if (sys::call(SYS_rt_sigaction, signal, &standard, nullptr, 8) < 0) return errno;
  }
  const std::uint64_t none = 0;
  return sys::call(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, 8) < 0 ? errno : 0;
}

// Not a moment runs beside an init that could still fail, or holds a capability: what init can't
// do, it says, and ends all. Mostly it was faster than the steps above.
int await_init(Child& child) noexcept {
  (void)::close(child.tell_program);
  char armed = 0;
  const auto got = sys::call(SYS_read, child.armed_by_init, &armed, 1);
  if (got < 0) return errno;
  if (got == 0) ::_exit(kSetupFailed);  // init told why
  (void)::close(child.armed_by_init);
  return 0;
}

// Beside the three that every program has. Our own channel may have its number, and makes way.
int place_channel(Child& child) noexcept {
  const int channel = child.fd(child.plan.program_channel);
  if (channel < 0) return 0;
  if (child.channel == kProgramChannel) {
    const auto moved =
        static_cast<int>(sys::call(SYS_fcntl, child.channel, F_DUPFD_CLOEXEC, kProgramChannel + 1));
    if (moved < 0) return errno;
    child.channel = moved;
  }
  if (channel == kProgramChannel) return sys::call(SYS_fcntl, channel, F_SETFD, 0) < 0 ? errno : 0;
  return sys::call(SYS_dup3, channel, kProgramChannel, 0) < 0 ? errno : 0;
}

// The kernel stops a traced process at its exec, before it runs anything (ptrace(2)). The
// tracer is init, which never lets it go on.
int hold_at_exec(Child& child) noexcept {
  if (!child.plan.hold_at_exec) return 0;
  return sys::call(SYS_ptrace, PTRACE_TRACEME, 0, nullptr, nullptr) < 0 ? errno : 0;
}

// The descriptor that notifies of refused calls; -1 with errno where there can be none.
int load_notifying(const sock_fprog& program) noexcept {
  constexpr unsigned kListener = SECCOMP_FILTER_FLAG_NEW_LISTENER;
  // From 5.19: a signal does not interrupt a call that was taken up already.
  const int fd =
      sys::seccomp_set_filter(kListener | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, program);
  return fd < 0 && errno == EINVAL ? sys::seccomp_set_filter(kListener, program) : fd;
}

// Once it is loaded the supervisor is told. What the filter refuses waits for the
// supervisor, and so it must let through what sends this, and what the steps below call.
int install_filter(Child& child) noexcept {
  auto filter = plan_list<sock_filter>(child.plan, child.plan.filter);
  int listener = -1;
  if (!filter.empty()) {
    const sock_fprog program = {static_cast<unsigned short>(filter.size()), filter.data()};
    listener = load_notifying(program);
    if (listener < 0) {
      child.report.error = errno;
      answer_unasked(filter);
      if (sys::seccomp_set_filter(0, program) < 0) return errno;
    }
  }
  mark_done(child, SetupStep::install_filter);
  return send_report(child, SetupMessage::Kind::ready, listener);
}

// Offsets become pointers in place; the last entry is the 0 that ends the list.
char** resolve(LaunchPlan& plan, Slice slice) noexcept {
  for (std::uint64_t& entry : plan_list<std::uint64_t>(plan, slice)) {
    if (entry != 0) entry += reinterpret_cast<std::uint64_t>(&plan);
  }
  return reinterpret_cast<char**>(plan_list<std::uint64_t>(plan, slice).data());
}

// As execvp(3): a path that does not exist makes way for the next, one that may
// not be executed is told only if none of the rest works.
int exec_program(Child& child) noexcept {
  LaunchPlan& plan = child.plan;
  char** argv = resolve(plan, plan.argv);
  char** environment = resolve(plan, plan.environment);
  int error = ENOENT;
  for (const Offset path : plan_list<Offset>(plan, plan.exec_paths)) {
    child.object = path;
    (void)sys::call(SYS_execve, plan_text(plan, path), argv, environment);
    if (errno == EACCES) {
      error = EACCES;
    } else if (errno != ENOENT && errno != ENOTDIR) {
      return errno;
    }
  }
  return error;
}

constexpr Step kSteps[] = {
    {SetupStep::start_session, start_session},
    {SetupStep::take_terminal, take_terminal},              // a new session has none yet
    {SetupStep::offer_to_oom_killer, offer_to_oom_killer},  // root's to write after the ids changed
    {SetupStep::drop_capabilities,
     drop_capabilities},  // before no_new_privs locks nothing: order free
    {SetupStep::verify_capabilities, verify_capabilities},
    {SetupStep::die_with_init,
     die_with_parent},  // after ids and capabilities: changing them clears it
    {SetupStep::forbid_new_privileges, forbid_new_privileges},  // Landlock and the filter need it
    {SetupStep::restrict_paths, restrict_paths},  // after the pivot: rules mean the box's paths
    {SetupStep::set_rlimits, set_rlimits},        // after the last descriptor of our own was opened
    {SetupStep::reset_signals, reset_signals},
    {SetupStep::await_init, await_init},          // late: in the meantime it has got ready
    {SetupStep::place_channel, place_channel},    // after the last use of what may have its number
    {SetupStep::hold_at_exec, hold_at_exec},      // the filter refuses it
    {SetupStep::install_filter, install_filter},  // late: no step above has to pass the filter
    {SetupStep::limit_files, limit_files},        // after the listener was sent
    {SetupStep::exec, exec_program},
};

}  // namespace

int confine_signals(Child& child) noexcept {
  if (!child.plan.confine_signals) return 0;
  if (const int error = forbid_new_privileges(child); error != 0) return error;
  const sys::LandlockRuleset attr = {0, 0, sys::kLandlockScopeSignal};
  const int ruleset = sys::landlock_create_ruleset(&attr, sizeof attr, 0);
  if (ruleset < 0) return errno;
  const int error = sys::landlock_restrict_self(ruleset) < 0 ? errno : 0;
  (void)::close(ruleset);
  return error;
}

void become_program(Child& child) noexcept {
  take_steps(child, kSteps, sizeof kSteps / sizeof kSteps[0]);
  ::_exit(125);  // not reached: exec returns only with an error
}

}  // namespace wardcase::sandbox
