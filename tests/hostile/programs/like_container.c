// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// No attack: it surrounds a command as container engines do by default, for tests.
//   like_container [--filter] [--mask-proc] [--read-only-cgroups] [--no-cgroups]
//                  [--no-user-namespaces] UID COMMAND...
//   --filter              the engines' filter: no new namespaces, no mounts, clone3 unknown
//   --mask-proc           parts of /proc covered, /proc/sys read-only
//   --read-only-cgroups   /sys/fs/cgroup read-only
//   --no-cgroups          nothing mounted there
//   --no-user-namespaces  user.max_user_namespaces is 0 in the user namespace that it runs in
// Needs root; UID 0 keeps the capabilities that engines leave.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void fail(const char* what) {
  fprintf(stderr, "like_container: %s: %s\n", what, strerror(errno));
  exit(99);
}

static void mask_proc(void) {
  static const char* const kFiles[] = {"/proc/kcore", "/proc/keys", "/proc/timer_list"};
  for (size_t i = 0; i < sizeof kFiles / sizeof kFiles[0]; ++i) {
    if (access(kFiles[i], F_OK) != 0) continue;
    if (mount("/dev/null", kFiles[i], NULL, MS_BIND, NULL) != 0) fail(kFiles[i]);
  }
  if (mount("/proc/sys", "/proc/sys", NULL, MS_BIND, NULL) != 0 ||
      mount(NULL, "/proc/sys", NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) != 0) {
    fail("/proc/sys");
  }
}

// All mounts below it, too: on hybrid hosts each hierarchy is one.
static void close_cgroups(int removed) {
  if (removed) {
    while (umount2("/sys/fs/cgroup", MNT_DETACH) == 0) {
    }
    return;
  }
  FILE* mounts = fopen("/proc/self/mounts", "re");
  char line[4096], place[4096];
  while (mounts != NULL && fgets(line, sizeof line, mounts) != NULL) {
    if (sscanf(line, "%*s %4095s", place) != 1) continue;
    if (strncmp(place, "/sys/fs/cgroup", 14) != 0) continue;
    if (mount(NULL, place, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) != 0) fail(place);
  }
  if (mounts != NULL) fclose(mounts);
}

#define ANSWER(errno_value) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (errno_value))
#define REFUSE(call, errno_value) \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), ANSWER(errno_value)
#define LOAD(member) \
  BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, member))

static void load_filter(void) {
  const uint32_t namespaces = 0x7e020080;
  struct sock_filter program[] = {
      LOAD(nr),
      REFUSE(SYS_clone3, ENOSYS),
      REFUSE(SYS_mount, EPERM),
      REFUSE(SYS_umount2, EPERM),
      REFUSE(SYS_pivot_root, EPERM),
      REFUSE(SYS_setns, EPERM),
      REFUSE(SYS_open_tree, EPERM),
      REFUSE(SYS_move_mount, EPERM),
      REFUSE(SYS_fsopen, EPERM),
      REFUSE(SYS_fsconfig, EPERM),
      REFUSE(SYS_fsmount, EPERM),
      REFUSE(SYS_fspick, EPERM),
      REFUSE(SYS_mount_setattr, EPERM),
      REFUSE(SYS_unshare, EPERM),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
      LOAD(args[0]),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, namespaces, 0, 1),
      ANSWER(EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog filter = {sizeof program / sizeof program[0], program};
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) != 0) fail("seccomp");
}

static void become(uid_t uid) {
  // What Docker leaves to root: no CAP_SYS_ADMIN, but what changes ids and owners.
  const unsigned long long left = 0xa80425fbULL;
  for (unsigned long capability = 0; capability < 64; ++capability) {
    if ((left >> capability & 1) == 0) prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  }
  if (uid == 0) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2] = {{(uint32_t)left, (uint32_t)left, 0}, {0, 0, 0}};
    if (syscall(SYS_capset, &header, data) != 0) fail("capset");
    return;
  }
  if (setgroups(0, NULL) != 0 || setresgid(uid, uid, uid) != 0 || setresuid(uid, uid, uid) != 0) {
    fail("setresuid");
  }
  prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

static void write_to(const char* path, const char* text) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text)) fail(path);
  close(fd);
}

// The setting is of the user namespace: the host's own stays as it is.
static void forbid_user_namespaces(uid_t uid) {
  char map[64];
  snprintf(map, sizeof map, "%d %d 1", (int)uid, (int)uid);
  if (unshare(CLONE_NEWUSER) != 0) fail("unshare");
  write_to("/proc/self/setgroups", "deny");
  write_to("/proc/self/gid_map", map);
  write_to("/proc/self/uid_map", map);
  write_to("/proc/sys/user/max_user_namespaces", "0");
}

int main(int argc, char** argv) {
  int filter = 0, mask = 0, read_only = 0, removed = 0, forbidden = 0;
  int i = 1;
  for (; i < argc && strncmp(argv[i], "--", 2) == 0; ++i) {
    filter |= strcmp(argv[i], "--filter") == 0;
    mask |= strcmp(argv[i], "--mask-proc") == 0;
    read_only |= strcmp(argv[i], "--read-only-cgroups") == 0;
    removed |= strcmp(argv[i], "--no-cgroups") == 0;
    forbidden |= strcmp(argv[i], "--no-user-namespaces") == 0;
  }
  if (argc - i < 2) return 2;
  const uid_t uid = (uid_t)atoi(argv[i]);
  if (unshare(CLONE_NEWNS) != 0) fail("unshare");
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) fail("private mounts");
  if (mask) mask_proc();
  if (read_only || removed) close_cgroups(removed);
  if (filter && uid != 0) prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (filter) load_filter();
  if (!forbidden || uid != 0) become(uid);
  if (forbidden) forbid_user_namespaces(uid);
  execv(argv[i + 1], argv + i + 1);
  fail(argv[i + 1]);
}
