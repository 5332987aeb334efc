// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: disturb init, pid 1 of the box: signals, limits, a terminal's death.
// Expected: it lives, and the end of the program is reported as ever.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

int main(void) {
  puts("armed");
  fflush(stdout);
  for (int round = 0; round < 20; ++round) {
    for (int sig = 1; sig < NSIG; ++sig) {
      if (sig != SIGCONT) kill(1, sig);
    }
  }
  kill(1, SIGCONT);
  struct rlimit none = {0, 0};
  puts(prlimit(1, RLIMIT_NOFILE, &none, NULL) == 0 ? "limited init" : "refused");
  puts(setpriority(PRIO_PROCESS, 1, 19) == 0 ? "slowed init" : "refused");
  return 7;
}
