// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// No attack, but a caller that stands in another sandbox: executes its arguments under a
// filter with a listener, of which the kernel allows one.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 2) return 99;
  struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const struct sock_fprog program = {1, code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  const int listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                    SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
  // Open as long as what we become: with its last descriptor the listener goes.
  if (listener < 0 || fcntl(listener, F_SETFD, 0) != 0) {
    perror("listener");
    return 98;
  }
  execv(argv[1], argv + 1);
  perror("execv");
  return 97;
}
