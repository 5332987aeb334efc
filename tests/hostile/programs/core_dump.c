// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: fill a directory of the host (the current one) with a core file.
// Expected: aborted, without one; the limit can't be raised.
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

int main(void) {
  setvbuf(stdout, NULL, _IONBF, 0);
  struct rlimit limit = {1 << 20, 1 << 20};
  puts("armed");
  puts(setrlimit(RLIMIT_CORE, &limit) == 0 ? "raised" : "refused");
  getrlimit(RLIMIT_CORE, &limit);
  printf("core size %lu\n", (unsigned long)limit.rlim_max);
  abort();
}
