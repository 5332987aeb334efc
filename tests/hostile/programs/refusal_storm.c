// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: refused calls without end, from PROCESSES x THREADS at once, to keep the
// supervisor busy. With CALLS each thread stops after so many and all answers are told.
// Expected: each call gets EPERM; limits and other output come as if nothing were.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static long calls;  // 0: without end
static long wrong;

static void* storm(void* unused) {
  for (long i = 0; calls == 0 || i < calls; ++i) {
    // Nothing that could succeed: there is no such key type.
    if (syscall(SYS_add_key, 1, 1, 0, 0, 0) != -1 || errno != EPERM) {
      __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
    }
  }
  return unused;
}

static int run_threads(int threads) {
  pthread_t others[64];
  for (int i = 0; i < threads; ++i) {
    if (pthread_create(&others[i], NULL, storm, NULL) != 0) return 2;
  }
  for (int i = 0; i < threads; ++i) pthread_join(others[i], NULL);
  return wrong == 0 ? 0 : 1;
}

int main(int argc, char** argv) {
  if (argc != 4) return 99;
  const int processes = atoi(argv[1]);
  const int threads = atoi(argv[2]) < 64 ? atoi(argv[2]) : 64;
  calls = atol(argv[3]);
  setvbuf(stdout, NULL, _IONBF, 0);
  puts("armed");
  for (int i = 0; i < processes; ++i) {
    if (fork() == 0) _exit(run_threads(threads));
  }
  int bad = 0;
  int status = 0;
  while (wait(&status) > 0) bad += status != 0;
  printf("wrong %d\n", bad);
  return 0;
}
