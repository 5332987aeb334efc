// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: get hold of what answers refused calls: the listener among the descriptors of
// any process, by pidfd_getfd, or a listener of our own; then talk the filter out of its
// answer by another filter on top, each action that ranks below a notification. With
// "own" we first make a listener ourselves, which shows that the search finds one.
// Expected: nothing found, nothing made, EPERM all the same.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static long load_filter(unsigned flags, unsigned answer) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, answer),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof code / sizeof code[0], code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

static void search(const char* process) {
  char path[600];
  char target[200];
  snprintf(path, sizeof path, "/proc/%.20s/fd", process);
  DIR* directory = opendir(path);
  if (directory == NULL) return;
  for (struct dirent* entry; (entry = readdir(directory)) != NULL;) {
    snprintf(path, sizeof path, "/proc/%.20s/fd/%.20s", process, entry->d_name);
    const ssize_t size = readlink(path, target, sizeof target - 1);
    if (size < 0) continue;
    target[size] = '\0';
    if (strstr(target, "seccomp") != NULL) printf("found %s\n", target);
  }
  closedir(directory);
}

static void steal(int process) {
  const int pidfd = (int)syscall(SYS_pidfd_open, process, 0);
  for (int fd = 0; pidfd >= 0 && fd < 64; ++fd) {
    if (syscall(SYS_pidfd_getfd, pidfd, fd, 0) >= 0) printf("stole %d of %d\n", fd, process);
  }
}

int main(int argc, char** argv) {
  setvbuf(stdout, NULL, _IONBF, 0);
  puts("armed");
  if (argc > 1 && strcmp(argv[1], "own") == 0) {
    load_filter(SECCOMP_FILTER_FLAG_NEW_LISTENER, SECCOMP_RET_ALLOW);
    steal(getpid());
  }
  DIR* processes = opendir("/proc");
  for (struct dirent* entry; processes != NULL && (entry = readdir(processes)) != NULL;) {
    if (atoi(entry->d_name) == getpid() || atoi(entry->d_name) == 1) search(entry->d_name);
  }
  if (argc > 1) return 0;
  steal(1);
  if (load_filter(SECCOMP_FILTER_FLAG_NEW_LISTENER, SECCOMP_RET_USER_NOTIF) >= 0) puts("made one");
  const unsigned lower[] = {SECCOMP_RET_TRACE, SECCOMP_RET_LOG, SECCOMP_RET_ALLOW};
  for (unsigned i = 0; i < sizeof lower / sizeof lower[0]; ++i) {
    if (load_filter(0, lower[i]) != 0) puts("no filter of our own");
    // CLONE_NEWUTS
    if (syscall(SYS_unshare, 0x04000000) != -1 || errno != EPERM) printf("passed %#x\n", lower[i]);
  }
  return 0;
}
