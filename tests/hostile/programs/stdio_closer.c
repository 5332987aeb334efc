// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: close stdin, stdout and stderr, so that whoever waits for the end of
// the output believes that the program ended; writes argv[1] after argv[2] milliseconds.
// Expected: the time limit ends it; the file never appears.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  if (write(1, "armed\n", 6) != 6) return 1;
  close(0);
  close(1);
  close(2);
  usleep((useconds_t)atoi(argv[2]) * 1000);
  close(open(argv[1], O_CREAT | O_WRONLY, 0644));
  for (;;) pause();
}
