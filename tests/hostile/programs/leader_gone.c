// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: look like a zombie. The first thread ends, another one goes on and ignores
// SIGTERM. Expected: the time limit ends it all the same.
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static void* go_on(void* unused) {
  usleep(20000);  // the first thread has ended by then
  if (write(1, "armed\n", 6) != 6) return unused;
  for (;;) pause();
}

int main(void) {
  signal(SIGTERM, SIG_IGN);
  pthread_t thread;
  if (pthread_create(&thread, NULL, go_on, NULL) != 0) return 1;
  pthread_exit(NULL);
}
