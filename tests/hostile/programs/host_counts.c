// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: take all that the kernel has of a thing which it counts for a user of the whole
// host: argv[1] is inotify, aio, signals (that wait) or timers. argv[2] is "all", which then stays,
// or "one", which tells whether one can still be had.
// Expected: a box gets few, and others of the same user still get theirs.
#define _GNU_SOURCE
#include <linux/aio_abi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int take_inotify(void) { return inotify_init(); }

static int take_aio(void) {
  aio_context_t context = 0;
  return (int)syscall(SYS_io_setup, 1000, &context);
}

static int take_signal(void) {
  const union sigval none = {0};
  return sigqueue(getpid(), SIGRTMIN + 1, none);
}

static int take_timer(void) {
  timer_t timer;
  return timer_create(CLOCK_MONOTONIC, NULL, &timer);
}

static const struct {
  const char* name;
  int (*take)(void);
} kKinds[] = {
    {"inotify", take_inotify}, {"aio", take_aio}, {"signals", take_signal}, {"timers", take_timer}};

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  setvbuf(stdout, NULL, _IONBF, 0);
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;  // it is another limit that is meant
  setrlimit(RLIMIT_NOFILE, &files);
  sigset_t held;
  sigemptyset(&held);
  sigaddset(&held, SIGRTMIN + 1);
  sigprocmask(SIG_BLOCK, &held, NULL);
  for (unsigned i = 0; i < sizeof kKinds / sizeof kKinds[0]; ++i) {
    if (strcmp(argv[1], kKinds[i].name) != 0) continue;
    if (strcmp(argv[2], "one") == 0) {
      puts(kKinds[i].take() >= 0 ? "got one" : "none is left");
      return 0;
    }
    int taken = 0;
    while (taken < 1000000 && kKinds[i].take() >= 0) ++taken;
    printf("armed\ntook %d\n", taken);
    pause();
  }
  return 2;
}
