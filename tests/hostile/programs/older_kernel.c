// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// No attack, but a caller on a kernel that lacks something: executes its arguments under a
// filter that makes "no-listener" or "no-killable" of seccomp(2) an unknown flag (before 5.0
// and 5.19), or lets the listener's "no-receive" fail.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

struct lack {
  const char* name;
  unsigned call, value, test, error;
};
static const struct lack kLacks[] = {
    {"no-listener", SYS_seccomp, SECCOMP_FILTER_FLAG_NEW_LISTENER, BPF_JSET, EINVAL},
    {"no-killable", SYS_seccomp, SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, BPF_JSET, EINVAL},
    {"no-receive", SYS_ioctl, SECCOMP_IOCTL_NOTIF_RECV, BPF_JEQ, EIO},
};

// Both look at the low half of the second argument.
static int load(const struct lack* lack) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, lack->call, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
      BPF_JUMP(BPF_JMP | lack->test | BPF_K, lack->value, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | lack->error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof code / sizeof code[0], code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

int main(int argc, char** argv) {
  for (unsigned i = 0; argc > 2 && i < sizeof kLacks / sizeof kLacks[0]; ++i) {
    if (strcmp(argv[1], kLacks[i].name) != 0) continue;
    if (load(&kLacks[i]) != 0) break;
    execv(argv[2], argv + 2);
  }
  perror("older_kernel");
  return 98;
}
