#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
#
# What is built with sanitizers: terabytes of address space are reserved, mistakes are caught,
# and what has none ends well, though leaks can't be looked for.
set -euo pipefail

cat >main.c <<'END'
#include <pthread.h>
#include <stdlib.h>
static void *work(void *cell) { return *(int *)cell = 1, cell; }
int main(int count, char **arguments) {
  int cells[2] = {0};
  pthread_t thread;
  pthread_create(&thread, 0, work, malloc(sizeof(int)));
  pthread_join(thread, 0);
  return cells[count * 5 - 5] + (arguments == 0);
}
END
for kind in address thread leak; do
  gcc -g -pthread -fsanitize=$kind -o "$kind" main.c
  ./$kind
done
! ./address overflow 2>said
grep -q stack-buffer-overflow said
# Asked for, the search for leaks is refused: it is a debugger's.
! ASAN_OPTIONS=detect_leaks=1 LSAN_OPTIONS='' ./address 2>said
grep -q LeakSanitizer said
echo works
