// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: be stopped, so that SIGTERM stays pending, and spin when continued.
// Expected: the time limit ends it all the same.
#include <signal.h>
#include <unistd.h>

int main(void) {
  signal(SIGTERM, SIG_IGN);
  if (write(1, "armed\n", 6) != 6) return 1;
  for (;;) raise(SIGSTOP);
}
