// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/child.h"

#include <linux/securebits.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#include <cerrno>

#include "sandbox/sys/kernel.h"
#include "sandbox/sys/retry.h"

namespace wardcase::sandbox {
namespace {

int close_parent_ends(Child& child) noexcept {
  (void)::close(child.fd(child.plan.parent_setup));
  (void)::close(child.fd(child.plan.parent_life));
  return 0;
}

// The kernel holds by the sender's limit how many descriptors of one user are on their way
// through sockets. Programs of other boxes may have as many there as their own limit,
// and ours must still get through.
int raise_open_files(Child&) noexcept {
  rlimit64 limit = {};
  if (sys::call(SYS_prlimit64, 0, RLIMIT_NOFILE, nullptr, &limit) < 0) return errno;
  limit.rlim_cur = limit.rlim_max;
  return sys::call(SYS_prlimit64, 0, RLIMIT_NOFILE, &limit, nullptr) < 0 ? errno : 0;
}

// "0" moves the writing thread. The opener's permission counts, so that this
// works without any right of our own (cgroups(7)).
int join_cgroups(Child& child) noexcept {
  for (const FdIndex index : plan_list<FdIndex>(child.plan, child.plan.tasks)) {
    if (child.fd(index) < 0) continue;  // kept free for a fallback that was not needed
    const int fd = child.fd(index);
    if (sys::retry_eintr([&]() noexcept { return ::write(fd, "0", 1); }) != 1) return errno;
    (void)::close(child.fd(index));
  }
  return 0;
}

int hide_cgroups(Child&) noexcept {
  return sys::call(SYS_unshare, CLONE_NEWCGROUP) < 0 ? errno : 0;
}

int keep_capabilities(Child& child) noexcept {
  if (!child.plan.has_privilege) return 0;  // nor is there one to keep
  return ::prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0) < 0 ? errno : 0;
}

int loopback_up(Child& child) noexcept {
  if (!child.plan.own_network) return 0;
  const auto fd = static_cast<int>(sys::call(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (fd < 0) return errno;
  ifreq request = {};
  request.ifr_name[0] = 'l';
  request.ifr_name[1] = 'o';
  request.ifr_flags = IFF_UP;
  const int error = sys::call(SYS_ioctl, fd, SIOCSIFFLAGS, &request) < 0 ? errno : 0;
  (void)::close(fd);
  return error;
}

int await_go(Child& child) noexcept {
  char go = 0;
  const auto got = sys::retry_eintr([&]() noexcept { return ::read(child.channel, &go, 1); });
  if (got < 0) return errno;
  return got == 1 ? 0 : ECANCELED;  // end of file: the supervisor gave up or died
}

// At once after the maps: while the id is unmapped, making files on a tmpfs
// gives EOVERFLOW.
int change_ids(Child& child) noexcept {
  if (!child.plan.keep_groups && sys::set_groups_to_none() < 0) return errno;
  if (sys::setresgid(child.plan.inside_gid) < 0) return errno;
  return sys::setresuid(child.plan.inside_uid) < 0 ? errno : 0;
}

int name_host(Child& child) noexcept {
  const char* name = plan_text(child.plan, child.plan.hostname);
  if (sys::call(SYS_sethostname, name, std::strlen(name)) < 0) return errno;
  (void)sys::call(SYS_umask, 022);
  return 0;
}

// The path is resolved inside the new root. getcwd of something outside begins
// with "(unreachable)": the class of CVE-2024-21626.
int enter_directory(Child& child) noexcept {
  child.object = child.plan.directory;
  open_how how = {};
  how.flags = O_PATH | O_CLOEXEC | O_DIRECTORY;
  const int fd = sys::openat2(AT_FDCWD, plan_text(child.plan, child.plan.directory), how);
  if (fd < 0) return errno;
  if (sys::call(SYS_fchdir, fd) < 0) return errno;
  (void)::close(fd);
  char path[PATH_MAX];
  if (sys::call(SYS_getcwd, path, sizeof path) < 0) return errno;
  return path[0] == '/' ? 0 : ENOENT;
}

int place_stdio(Child& child) noexcept {
  int sources[3];
  for (int i = 0; i < 3; ++i) {
    sources[i] = child.terminal >= 0 ? child.terminal : child.fd(child.plan.stdio[i]);
  }
  if (sources[0] < 0) {
    sources[0] =
        static_cast<int>(sys::call(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC, 0));
    if (sources[0] < 0) return errno;
  }
  for (int i = 0; i < 3; ++i) {
    if (sys::call(SYS_dup3, sources[i], i, 0) < 0) return errno;
  }
  return sys::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) < 0 ? errno : 0;
}

int pin_cpus(Child& child) noexcept {
  if (!child.plan.pin_cpus) return 0;
  return sys::call(SYS_sched_setaffinity, 0, sizeof child.plan.cpus, &child.plan.cpus) < 0 ? errno
                                                                                           : 0;
}

int use_directory(Child& child) noexcept {
  child.root = child.scratch = child.fd(child.plan.private_directory);
  (void)sys::call(SYS_umask, 022);
  return 0;
}

// Without a pid namespace a process whose parent ends goes to the next one above that asks for it.
int adopt_orphans(Child&) noexcept {
  return ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0 ? errno : 0;
}

int fork_program(Child& child) noexcept {
  int ends[2];
  if (sys::call(SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) return errno;
  child.armed_by_init = ends[0];
  child.tell_program = ends[1];
  int pidfd = -1;
  clone_args args = {};
  args.flags = CLONE_PIDFD;
  args.pidfd = reinterpret_cast<std::uint64_t>(&pidfd);
  args.exit_signal = SIGCHLD;
  long pid = sys::clone3(args);
  if (pid < 0 && errno == ENOSYS) {
    pid = sys::call(SYS_clone, CLONE_PIDFD | SIGCHLD, nullptr, &pidfd, nullptr, nullptr);
  }
  if (pid < 0) return errno;
  if (pid == 0) become_program(child);
  child.program = static_cast<pid_t>(pid);
  (void)::close(child.armed_by_init);
  mark_done(child, SetupStep::fork_program);
  child.report.step = SetupStep::announce_program;
  return send_report(child, SetupMessage::Kind::program, pidfd);
}

// Read this table from top to bottom to audit a launch. The right-hand column
// says why a step stands where it does.
constexpr Step kSteps[] = {
    {SetupStep::close_parent_ends, close_parent_ends},  // else we would never see them closed
    {SetupStep::raise_open_files, raise_open_files},    // before anything is sent
    {SetupStep::join_cgroups, join_cgroups},  // single-threaded and before any fork: 0.1 ms, not 10
    {SetupStep::hide_cgroups, hide_cgroups},  // after joining: its root is where we stand
    {SetupStep::keep_capabilities, keep_capabilities},  // before the ids change
    {SetupStep::private_mounts, private_mounts},        // before the first mount of ours
    {SetupStep::loopback_up, loopback_up},  // needs no id: done while the parent writes the maps
    {SetupStep::await_go, await_go},        // id maps are in place from here
    {SetupStep::change_ids, change_ids},    // before files are made: their owner is the box's user
    {SetupStep::make_root, make_root},
    {SetupStep::make_scratch, make_scratch},
    {SetupStep::make_skeleton, make_skeleton},  // before binds: never make paths in bound trees
    {SetupStep::place_files, place_files},      // before the file size limit
    {SetupStep::place_binds, place_binds},      // /dev/null must be there for the masks of /proc
    {SetupStep::place_scratch, place_scratch},  // over /dev and the skeleton
    {SetupStep::mount_proc, mount_proc},  // after pid 1 exists in this pid namespace: we are it
    {SetupStep::protect_proc, protect_proc},
    {SetupStep::make_terminal, make_terminal},  // after the ids: it is the box's user's
    {SetupStep::send_box, send_box},            // while the writable file system is at hand
    {SetupStep::enter_root, enter_root},        // all that comes from the host is placed
    {SetupStep::verify_root, verify_root},  // a second mount on / would leave the host behind /..
    {SetupStep::seal_root, seal_root},      // nothing more is made on it
    {SetupStep::name_host, name_host},
    {SetupStep::enter_directory, enter_directory},  // resolved inside the new root
    {SetupStep::place_stdio, place_stdio},  // /dev/null is the box's; then all else closes at exec
    {SetupStep::pin_cpus, pin_cpus},
    {SetupStep::fork_program, fork_program},
};

// The same for a box without namespaces. The host's paths stay: what the program may do with them
// is Landlock's to say (restrict_paths).
constexpr Step kStepsWithoutNamespaces[] = {
    {SetupStep::close_parent_ends, close_parent_ends},
    {SetupStep::raise_open_files, raise_open_files},
    {SetupStep::join_cgroups, join_cgroups},
    {SetupStep::keep_capabilities, keep_capabilities},  // to drop the bounding set later
    {SetupStep::await_go, await_go},
    {SetupStep::change_ids, change_ids},  // before files are made
    {SetupStep::use_directory, use_directory},
    {SetupStep::make_skeleton, make_skeleton},
    {SetupStep::place_files, place_files},
    {SetupStep::enter_directory, enter_directory},
    {SetupStep::place_stdio, place_stdio},
    {SetupStep::pin_cpus, pin_cpus},
    {SetupStep::confine_signals,
     confine_signals},                          // before the fork: whom init may signal is below
    {SetupStep::adopt_orphans, adopt_orphans},  // before the first of them can be
    {SetupStep::fork_program, fork_program},
};

}  // namespace

void take_steps(Child& child, const Step* steps, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    const Step& step = steps[i];
    child.object = 0;
    int error = child.plan.fault_step == step.name ? child.plan.fault_error : 0;
    if (error == 0) error = step.run(child);
    if (error != 0) {
      child.report.step = step.name;
      child.report.error = error;
      child.report.object = child.object;
      (void)send_report(child, SetupMessage::Kind::failed, -1);
      ::_exit(kSetupFailed);
    }
    mark_done(child, step.name);
  }
}

void mark_done(Child& child, SetupStep step) noexcept {
  timespec now = {};
  (void)::clock_gettime(CLOCK_MONOTONIC, &now);
  child.report.done_at[static_cast<std::size_t>(step)] =
      static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
      static_cast<std::uint64_t>(now.tv_nsec);
}

int send_report(Child& child, SetupMessage::Kind kind, int fd) noexcept {
  child.report.kind = kind;
  iovec part = {&child.report, sizeof child.report};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (fd >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  }
  return sys::call(SYS_sendmsg, child.channel, &message, MSG_NOSIGNAL) < 0 ? errno : 0;
}

void run_child(LaunchPlan& plan, const int* fds, MemoryRange arguments) noexcept {
  Child child{.plan = plan, .fds = fds, .arguments = arguments, .channel = fds[plan.setup]};
  if (plan.own_namespaces) {
    take_steps(child, kSteps, sizeof kSteps / sizeof kSteps[0]);
  } else {
    take_steps(child, kStepsWithoutNamespaces,
               sizeof kStepsWithoutNamespaces / sizeof kStepsWithoutNamespaces[0]);
  }
  become_init(child);
}

namespace {

int drop_bounding_set(Child& child) noexcept {
  for (unsigned long capability = 0; capability < child.plan.capability_count; ++capability) {
    if (::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0) return errno;
  }
  constexpr unsigned long kLocked = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                                    SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
                                    SECBIT_NO_CAP_AMBIENT_RAISE |
                                    SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
  return ::prctl(PR_SET_SECUREBITS, kLocked, 0, 0, 0) < 0 ? errno : 0;
}

}  // namespace

// All sets, then verified: what the kernel says afterwards is what counts. Who has no privilege
// can't touch the bounding set, of which nothing can be had without new privileges.
int drop_capabilities(Child& child) noexcept {
  if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0) return errno;
  if (child.plan.has_privilege) {
    if (const int error = drop_bounding_set(child); error != 0) return error;
  }
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2] = {};
  return sys::capset(header, none) < 0 ? errno : 0;
}

int forbid_new_privileges(Child&) noexcept {
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? errno : 0;
}

int die_with_parent(Child& child) noexcept {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0) return errno;
  pollfd life = {child.fd(child.plan.life), POLLIN, 0};
  const timespec now = {};
  const auto ready = sys::call(SYS_ppoll, &life, 1, &now, nullptr, 8);
  if (ready < 0) return errno;
  return (life.revents & (POLLHUP | POLLERR)) != 0 ? ECANCELED : 0;
}

}  // namespace wardcase::sandbox
