// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "sandbox/sys/retry.h"

// System calls that the C library does not wrap, each as the kernel has it:
// a result below 0 and errno on failure. All of them are safe between clone3 and
// exec. <sys/mount.h> and <linux/mount.h> do not go together; this header takes the second.
namespace wardcase::sys {

inline constexpr int kMountDetach = 2;                         // MNT_DETACH, umount2(2)
inline constexpr unsigned kPidfdSignalProcessGroup = 1U << 2;  // pidfd_send_signal(2), from 6.9
inline constexpr unsigned kLandlockVersion = 1U << 0;          // landlock_create_ruleset(2)

// landlock_ruleset_attr of ABI 6; older kernels are given a shorter size.
struct LandlockRuleset {
  std::uint64_t handled_access_fs;
  std::uint64_t handled_access_net;
  std::uint64_t scoped;
};
inline constexpr std::uint64_t kLandlockTruncate = 1ULL << 14;
inline constexpr std::uint64_t kLandlockBindTcp = 1ULL << 0;
inline constexpr std::uint64_t kLandlockConnectTcp = 1ULL << 1;
inline constexpr std::uint64_t kLandlockScopeAbstractSocket = 1ULL << 0;
inline constexpr std::uint64_t kLandlockScopeSignal = 1ULL << 1;

// Any system call by its number, again while a signal interrupts it: in a box that is
// frozen, or whose file systems wait for a server, that can be nearly any of them.
template <typename... Arguments>
long call(long number, Arguments... arguments) noexcept {
  return retry_eintr([&]() noexcept { return ::syscall(number, arguments...); });
}

inline int clone3(const clone_args& args) noexcept {
  return static_cast<int>(call(SYS_clone3, &args, sizeof args));
}
inline int open_tree(int dir, const char* path, unsigned flags) noexcept {
  return static_cast<int>(call(SYS_open_tree, dir, path, flags));
}
inline constexpr unsigned kMoveMountToEmptyPath = 0x40;  // MOVE_MOUNT_T_EMPTY_PATH
// Onto what the descriptor is open on.
inline int move_mount_onto(int from, int to) noexcept {
  return static_cast<int>(
      call(SYS_move_mount, from, "", to, "", MOVE_MOUNT_F_EMPTY_PATH | kMoveMountToEmptyPath));
}
inline int move_mount(int from, int to_dir, const char* to_path) noexcept {
  return static_cast<int>(call(SYS_move_mount, from, "", to_dir, to_path, MOVE_MOUNT_F_EMPTY_PATH));
}
inline int mount_setattr(int dir, const char* path, unsigned flags,
                         const mount_attr& attr) noexcept {
  return static_cast<int>(call(SYS_mount_setattr, dir, path, flags, &attr, sizeof attr));
}
inline int fsopen(const char* type) noexcept {
  return static_cast<int>(call(SYS_fsopen, type, FSOPEN_CLOEXEC));
}
inline int fsconfig_string(int fs, const char* key, const char* value) noexcept {
  return static_cast<int>(call(SYS_fsconfig, fs, FSCONFIG_SET_STRING, key, value, 0));
}
inline int fsconfig_create(int fs) noexcept {
  return static_cast<int>(call(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0));
}
inline int fsmount(int fs, unsigned attributes) noexcept {
  return static_cast<int>(call(SYS_fsmount, fs, FSMOUNT_CLOEXEC, attributes));
}
inline int pivot_root(const char* new_root, const char* put_old) noexcept {
  return static_cast<int>(call(SYS_pivot_root, new_root, put_old));
}
inline int umount2(const char* path, int flags) noexcept {
  return static_cast<int>(call(SYS_umount2, path, flags));
}
inline int openat2(int dir, const char* path, const open_how& how) noexcept {
  return static_cast<int>(call(SYS_openat2, dir, path, &how, sizeof how));
}
inline int close_range(unsigned first, unsigned last, unsigned flags) noexcept {
  return static_cast<int>(call(SYS_close_range, first, last, flags));
}
// By number: the C library's own wrappers change the ids of all threads and
// keep state that a cloned child must not touch.
inline int set_groups_to_none() noexcept {
  return static_cast<int>(call(SYS_setgroups, 0, nullptr));
}
inline int setresgid(gid_t id) noexcept {
  return static_cast<int>(call(SYS_setresgid, id, id, id));
}
inline int setresuid(uid_t id) noexcept {
  return static_cast<int>(call(SYS_setresuid, id, id, id));
}
inline int capset(__user_cap_header_struct& header, const __user_cap_data_struct* data) noexcept {
  return static_cast<int>(call(SYS_capset, &header, data));
}
inline int capget(__user_cap_header_struct& header, __user_cap_data_struct* data) noexcept {
  return static_cast<int>(call(SYS_capget, &header, data));
}
inline int seccomp_set_filter(unsigned flags, const sock_fprog& program) noexcept {
  return static_cast<int>(call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program));
}
// The ioctl's number holds the structure's size: a kernel with another one refuses it.
inline int receive_notification(int listener, seccomp_notif& notification) noexcept {
  notification = {};  // the kernel takes nothing else
  return ::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &notification);
}
inline int answer_notification(int listener, std::uint64_t id, int error) noexcept {
  seccomp_notif_resp response = {};
  response.id = id;
  response.error = -error;
  return ::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}
inline int landlock_create_ruleset(const LandlockRuleset* attr, std::size_t size,
                                   unsigned flags) noexcept {
  return static_cast<int>(call(SYS_landlock_create_ruleset, attr, size, flags));
}
inline int landlock_add_path_rule(int ruleset, const landlock_path_beneath_attr& rule) noexcept {
  return static_cast<int>(
      call(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0));
}
inline int landlock_restrict_self(int ruleset) noexcept {
  return static_cast<int>(call(SYS_landlock_restrict_self, ruleset, 0));
}
// <sys/pidfd.h> of glibc 2.36 has no C linkage for C++.
inline constexpr unsigned kPidfdThread = O_EXCL;  // PIDFD_THREAD, from 6.9
inline int pidfd_open(pid_t pid, unsigned flags = 0) noexcept {
  return static_cast<int>(call(SYS_pidfd_open, pid, flags));
}
inline int pidfd_getfd(int pidfd, int number) noexcept {
  return static_cast<int>(call(SYS_pidfd_getfd, pidfd, number, 0));
}
inline int pidfd_send_signal(int pidfd, int signal, unsigned flags) noexcept {
  return static_cast<int>(call(SYS_pidfd_send_signal, pidfd, signal, nullptr, flags));
}
// SIGKILL for a child of ours that nobody has waited for yet. There is nothing that could forbid
// it, so that what fails is tried again.
inline void kill_child(int pidfd) noexcept {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    if (pidfd_send_signal(pidfd, SIGKILL, 0) == 0 || errno == ESRCH) return;
  }
}
inline int statx_mount_id(int dir, const char* path, int flags, std::uint64_t* mount_id) noexcept {
  struct statx info = {};
  const auto result = static_cast<int>(call(SYS_statx, dir, path, flags, STATX_MNT_ID, &info));
  *mount_id = info.stx_mnt_id;
  return result;
}

}  // namespace wardcase::sys
