// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: fill the table of processes with argv[1] threads.
// Expected: none more at the limit of processes, which counts them.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void* stay(void* unused) {
  for (;;) pause();
  return unused;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  puts("armed");
  fflush(stdout);
  const int wanted = atoi(argv[1]);
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 1 << 16);
  int made = 0;
  int error = 0;
  for (pthread_t thread; made < wanted && error == 0;) {
    error = pthread_create(&thread, &small, stay, NULL);
    if (error == 0) ++made;
  }
  printf("%s after %d\n", error != 0 ? strerrorname_np(error) : "done", made);
  fflush(stdout);
  usleep(300000);  // a supervisor that can only look from time to time must see it
  _exit(0);
}
