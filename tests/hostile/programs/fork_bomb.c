// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: fill the process table. With a number it stops at so many children and
// tells what it got, so that it can do no harm outside a box; without one every
// process forks for ever.
// Expected: fork fails at the limit; the host does not notice.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  setvbuf(stdout, NULL, _IONBF, 0);
  puts("armed");
  if (argc < 2) {
    for (;;) fork();
  }
  static pid_t children[1000];
  const int wanted = atoi(argv[1]) < 1000 ? atoi(argv[1]) : 1000;
  int made = 0;
  for (; made < wanted; ++made) {
    children[made] = fork();
    if (children[made] < 0) break;
    if (children[made] == 0) {
      for (;;) pause();
    }
  }
  printf("made %d\n", made);
  usleep(300000);  // a supervisor that can only look from time to time must see it
  while (made > 0) {
    kill(children[--made], SIGKILL);
    waitpid(children[made], NULL, 0);
  }
  return 0;
}
