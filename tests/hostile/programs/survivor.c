// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: leave somebody behind when the program ends, who writes argv[2] after argv[3]
// milliseconds, in the way that argv[1] names:
//   session   in a session of its own
//   orphan    by a double fork
//   nohup     ignoring the hang-up and the request to end
//   stopped   stopped, to be continued by a helper later
//   silent    with no descriptor left
//   vfork     a child of vfork(2), whose parent can't be woken by signals it may ignore
//   thread    a thread of a process whose first thread has ended
//   zombie    the same, seen as a zombie by its parent, which ended as well
//   many      sixty-four of them
// Expected: nothing of it lives when the record is there.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char* path;
static useconds_t delay;

static void write_late(void) {
  usleep(delay);
  close(open(path, O_CREAT | O_WRONLY, 0644));
  _exit(0);
}

static void* thread_writes(void* unused) {
  write_late();
  return unused;
}

static void write_by_thread(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, thread_writes, NULL) == 0) pthread_exit(NULL);
  _exit(1);
}

// Continued by its sibling after the program has ended.
static void be_stopped(void) {
  const pid_t stopped = fork();
  if (stopped == 0) {
    raise(SIGSTOP);
    write_late();
  }
  waitpid(stopped, NULL, WUNTRACED);
  usleep(delay / 2);
  kill(stopped, SIGCONT);
  _exit(0);
}

static void survive(const char* way) {
  if (strcmp(way, "session") == 0 || strcmp(way, "many") == 0) setsid();
  if (strcmp(way, "orphan") == 0 && fork() != 0) _exit(0);
  if (strcmp(way, "nohup") == 0) {
    for (int sig = 1; sig < NSIG; ++sig) signal(sig, SIG_IGN);
  }
  if (strcmp(way, "silent") == 0) {
    for (int fd = 0; fd < 64; ++fd) close(fd);
  }
  if (strcmp(way, "stopped") == 0) be_stopped();
  if (strcmp(way, "thread") == 0) write_by_thread();
  if (strcmp(way, "zombie") == 0 && fork() == 0) write_by_thread();
  if (strcmp(way, "vfork") == 0) {
    const pid_t child = vfork();
    if (child == 0) write_late();
    _exit(child < 0);
  }
  if (strcmp(way, "zombie") == 0) _exit(0);
  write_late();
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  path = argv[2];
  delay = (useconds_t)atoi(argv[3]) * 1000;
  for (int left = strcmp(argv[1], "many") == 0 ? 64 : 1; left > 0; --left) {
    if (fork() == 0) survive(argv[1]);
  }
  usleep(30000);  // it is there by then
  return write(1, "armed\n", 6) == 6 ? 0 : 1;
}
