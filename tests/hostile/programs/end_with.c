// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: an end that looks like another one: "code N" exits with N, "signal N" kills
// itself by N, "late N" exits with N when it is asked to end.
// Expected: told as what it is.
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc != 3 || write(1, "armed\n", 6) != 6) return 2;
  const int number = atoi(argv[2]);
  if (strcmp(argv[1], "code") == 0) return number;
  if (strcmp(argv[1], "signal") == 0) kill(getpid(), number);
  sigset_t end;
  sigemptyset(&end);
  sigaddset(&end, SIGTERM);
  sigprocmask(SIG_BLOCK, &end, NULL);
  int caught = 0;
  sigwait(&end, &caught);
  return number;
}
