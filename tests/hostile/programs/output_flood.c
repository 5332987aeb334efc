// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: write without end.
// Expected: the output limit ends it, and the supervisor's memory stays small.
#include <string.h>
#include <unistd.h>

static char block[1 << 16];

int main(void) {
  if (write(1, "armed\n", 6) != 6) return 1;
  memset(block, 'y', sizeof block);
  block[sizeof block - 1] = '\n';
  for (;;) {
    if (write(1, block, sizeof block) < 0) return 1;
  }
}
