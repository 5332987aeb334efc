// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "tests/faults/fault_points.h"

#include <seccomp.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>

namespace wardcase::test {
namespace {

using Errors = std::vector<int>;

// Newer than the headers of some hosts.
constexpr std::string_view kOpens[] = {"open", "openat", "openat2", "creat", "dup2", "dup3"};
constexpr std::string_view kNewDescriptors[] = {"open_tree",
                                                "fsopen",
                                                "fsmount",
                                                "pipe2",
                                                "socket",
                                                "socketpair",
                                                "eventfd2",
                                                "signalfd4",
                                                "memfd_create",
                                                "dup",
                                                "pidfd_open",
                                                "epoll_create1",
                                                "landlock_create_ruleset"};
constexpr std::string_view kReads[] = {"read",    "pread64",  "readv",
                                       "recvmsg", "recvfrom", "getdents64"};
constexpr std::string_view kWrites[] = {"write",    "pwrite64", "writev",
                                        "sendmsg",  "sendto",   "copy_file_range",
                                        "sendfile", "splice",   "ftruncate"};
constexpr std::string_view kMakes[] = {"mkdir",  "mkdirat",  "symlink",  "symlinkat",
                                       "mknod",  "mknodat",  "link",     "linkat",
                                       "rename", "renameat", "renameat2"};
constexpr std::string_view kMounts[] = {"mount",    "umount2",       "move_mount",
                                        "fsconfig", "mount_setattr", "pivot_root",
                                        "chroot",   "unshare",       "setns"};
constexpr std::string_view kChanges[] = {
    "unlink",     "unlinkat", "rmdir",      "chmod",  "fchmod",     "fchmodat", "chown",
    "fchown",     "fchownat", "lchown",     "chdir",  "fchdir",     "access",   "faccessat",
    "faccessat2", "stat",     "fstat",      "lstat",  "newfstatat", "statx",    "statfs",
    "fstatfs",    "readlink", "readlinkat", "getcwd", "ioctl"};
constexpr std::string_view kRights[] = {
    "setuid",      "setgid",    "setresuid", "setresgid",         "setgroups",
    "capset",      "capget",    "seccomp",   "landlock_add_rule", "landlock_restrict_self",
    "prctl",       "prlimit64", "setrlimit", "sched_setaffinity", "sched_getaffinity",
    "sethostname", "setsid",    "setpgid",   "getgroups",         "pidfd_send_signal",
    "kill",        "ptrace",    "fcntl",     "epoll_ctl"};
constexpr std::string_view kWaits[] = {"epoll_wait", "epoll_pwait", "poll",           "ppoll",
                                       "select",     "waitid",      "wait4",          "flock",
                                       "getrandom",  "nanosleep",   "clock_nanosleep"};
constexpr std::string_view kProcesses[] = {"clone", "clone3", "fork", "vfork"};

template <std::size_t size>
void add(std::map<long, Errors>& table, const std::string_view (&names)[size],
         const Errors& errors) {
  for (const std::string_view name : names) {
    const int call = ::seccomp_syscall_resolve_name(std::string(name).c_str());
    if (call >= 0) table[call] = errors;
  }
}

std::map<long, Errors> make_table() {
  std::map<long, Errors> table;
  add(table, kOpens, {EINTR, ENOMEM, EMFILE, ENOSPC, EPERM});
  add(table, kNewDescriptors, {ENOMEM, EMFILE, ENOSPC, EPERM});  // these never wait
  add(table, kReads, {EINTR, ENOMEM, EIO});
  add(table, kWrites, {EINTR, ENOMEM, ENOSPC, EIO});
  add(table, kMakes, {ENOMEM, ENOSPC, EIO, EPERM});
  add(table, kMounts, {ENOMEM, ENOSPC, EPERM});
  add(table, kChanges, {ENOMEM, EIO, EPERM});
  add(table, kRights, {ENOMEM, EPERM});
  add(table, kWaits, {EINTR, ENOMEM});
  add(table, kProcesses, {ENOMEM, EPERM});
  table[SYS_close] = {EINTR, EIO};
  table[SYS_execve] = {ENOMEM, EIO, EPERM};
  table[SYS_mmap] = {ENOMEM};
  return table;
}

}  // namespace

std::string call_name(long call) {
  char* name = ::seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, static_cast<int>(call));
  std::string text = name == nullptr ? std::to_string(call) : name;
  ::free(name);
  return text;
}

const std::vector<int>& errors_of(long call) {
  static const std::map<long, Errors> table = make_table();
  static const Errors none;
  const auto found = table.find(call);
  return found == table.end() ? none : found->second;
}

std::vector<Fault> all_faults(const std::vector<CallSite>& calls) {
  std::vector<Fault> faults;
  for (const CallSite& call : calls) {
    for (const int error : errors_of(call.call)) faults.push_back({call, error});
  }
  return faults;
}

std::string describe(const Fault& fault) {
  return fault.at.process + " " + call_name(fault.at.call) + " " + std::to_string(fault.at.nth) +
         " " + ::strerrorname_np(fault.error);
}

}  // namespace wardcase::test
