// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: refuse to end. Ignores every signal that can be ignored.
// Expected: killed when the grace is over.
#include <signal.h>
#include <unistd.h>

int main(void) {
  for (int sig = 1; sig < NSIG; ++sig) signal(sig, SIG_IGN);
  if (write(1, "armed\n", 6) != 6) return 1;
  for (;;) pause();
}
