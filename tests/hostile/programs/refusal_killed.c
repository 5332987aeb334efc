// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: processes are killed, and signalled without end, while the supervisor has
// their refused calls in hand.
// Expected: no answer goes astray; with handlers that restart calls each gets EPERM.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t signals;

static void count(int signal) {
  (void)signal;
  ++signals;
}

static int is_refused(void) { return syscall(SYS_add_key, 1, 1, 0, 0, 0) == -1 && errno == EPERM; }

static int kill_callers(void) {
  for (int i = 0; i < 50; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      for (;;) is_refused();
    }
    usleep(500);
    kill(child, SIGKILL);
    int status = 0;
    if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status)) return 1;
  }
  return 0;
}

static int call_under_signals(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = count;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval often = {{0, 100}, {0, 100}};
  setitimer(ITIMER_REAL, &often, NULL);
  int wrong = 0;
  for (int i = 0; i < 300; ++i) wrong += !is_refused();
  return wrong;
}

int main(void) {
  setvbuf(stdout, NULL, _IONBF, 0);
  puts("armed");
  printf("killed: %s\n", kill_callers() == 0 ? "all" : "not all");
  printf("wrong answers: %d\n", call_under_signals());
  printf("signals: %s\n", signals > 10 ? "many" : "few");
  return is_refused() ? 0 : 1;
}
