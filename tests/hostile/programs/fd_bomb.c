// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: use up descriptors, by argv[2] calls of the kind that argv[1] names.
// Expected: EMFILE at the limit.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int pair[2];

static int by_open(void) { return open("/dev/null", O_RDONLY); }
static int by_dup(void) { return dup(1); }
static int by_pipe(void) { return pipe(pair); }
static int by_socket(void) { return socket(AF_INET, SOCK_STREAM, 0); }
static int by_socketpair(void) { return socketpair(AF_UNIX, SOCK_STREAM, 0, pair); }
static int by_event(void) { return eventfd(0, 0); }
static int by_epoll(void) { return epoll_create1(0); }
static int by_timer(void) { return timerfd_create(CLOCK_MONOTONIC, 0); }
static int by_inotify(void) { return inotify_init(); }
static int by_memory(void) { return memfd_create("bomb", 0); }
static int by_process(void) { return (int)syscall(SYS_pidfd_open, getpid(), 0); }
static int by_signal(void) {
  sigset_t none;
  sigemptyset(&none);
  return signalfd(-1, &none, 0);
}

static const struct {
  const char* name;
  int (*open_one)(void);
} kKinds[] = {
    {"open", by_open},       {"dup", by_dup},       {"pipe", by_pipe},       {"socket", by_socket},
    {"pair", by_socketpair}, {"event", by_event},   {"epoll", by_epoll},     {"timer", by_timer},
    {"inotify", by_inotify}, {"memory", by_memory}, {"process", by_process}, {"signal", by_signal},
};

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  puts("armed");
  const int wanted = atoi(argv[2]);
  for (unsigned i = 0; i < sizeof kKinds / sizeof kKinds[0]; ++i) {
    if (strcmp(argv[1], kKinds[i].name) != 0) continue;
    int made = 0;
    while (made < wanted && kKinds[i].open_one() >= 0) ++made;
    printf("%s after %d\n", made < wanted ? strerrorname_np(errno) : "done", made);
  }
  return 0;
}
