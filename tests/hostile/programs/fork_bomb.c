// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: fill the process table. With a number it stops at so many children and
// tells what it got, so that it can do no harm outside a box; without one every
// process forks for ever.
// Expected: fork fails at the limit; the host does not notice.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char** argv) {
  setvbuf(stdout, NULL, _IONBF, 0);
  puts("armed");
  if (argc < 2) {
    for (;;) fork();
  }
  int made = 0;
  for (const int wanted = atoi(argv[1]); made < wanted; ++made) {
    const pid_t pid = fork();
    if (pid < 0) break;
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) pause();
    }
  }
  printf("made %d\n", made);
  return 0;
}
