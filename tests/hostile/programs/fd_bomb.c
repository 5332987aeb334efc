// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: use up descriptors, at most argv[1].
// Expected: EMFILE at the limit.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  puts("armed");
  int opened = 0;
  while (opened < atoi(argv[1]) && open("/dev/null", O_RDONLY) >= 0) ++opened;
  printf("%s after %d\n", opened < atoi(argv[1]) ? strerrorname_np(errno) : "done", opened);
  return 0;
}
