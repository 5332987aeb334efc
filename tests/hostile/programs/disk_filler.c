// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: fill the disk, one after the other through every directory that can be
// written, argv[1] MiB in each.
// Expected: ENOSPC once they hold the budget together; it says how much that was.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char block[1 << 20];

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  setvbuf(stdout, NULL, _IONBF, 0);
  puts("armed");
  const char* const directories[] = {"/box", "/tmp", getenv("HOME"), "/dev/shm"};
  memset(block, 'x', sizeof block);
  int total = 0;
  for (int i = 0; i < 4; ++i) {
    char path[256];
    snprintf(path, sizeof path, "%s/filler", directories[i]);
    const int fd = open(path, O_CREAT | O_WRONLY, 0644);
    for (int written = 0; written < atoi(argv[1]); ++written, ++total) {
      for (ssize_t rest = sizeof block; rest > 0;) {
        const ssize_t n = write(fd, block, (size_t)rest);
        if (n < 0) {
          printf("%s after %d MiB in %s\n", strerrorname_np(errno), total, directories[i]);
          return 1;
        }
        rest -= n;
      }
    }
    close(fd);
  }
  printf("wrote %d MiB\n", total);
  return 0;
}
