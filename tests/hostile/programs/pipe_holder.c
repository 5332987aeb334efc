// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: hold the output pipe open by a silent background child, so that its
// end of file does not come.
// Expected: the run ends with its first process.
#include <unistd.h>

int main(void) {
  if (fork() == 0) {
    setsid();
    for (;;) pause();
  }
  return write(1, "armed\n", 6) == 6 ? 0 : 1;
}
