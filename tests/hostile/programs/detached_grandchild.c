// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: outlive the run. Ignores SIGTERM and leaves a grandchild in a session
// of its own, by a double fork, which a kill of the process group cannot reach. It
// writes argv[1] after argv[2] milliseconds.
// Expected: nothing of it survives the verdict.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  signal(SIGTERM, SIG_IGN);
  if (fork() == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    usleep((useconds_t)atoi(argv[2]) * 1000);
    close(open(argv[1], O_CREAT | O_WRONLY, 0644));
    for (;;) pause();
  }
  if (write(1, "armed\n", 6) != 6) return 1;
  for (;;) pause();
}
