// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: hold the output pipe open by a silent background child for argv[1]
// milliseconds, so that its end of file does not come.
// Expected: the run ends with its first process.
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  if (fork() == 0) {
    setsid();
    usleep((useconds_t)atoi(argv[1]) * 1000);
    _exit(0);
  }
  return write(1, "armed\n", 6) == 6 ? 0 : 1;
}
