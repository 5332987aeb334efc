// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: reach the host's file behind stdout. Opening /proc/self/fd/1 anew gives
// an own description: of a file one could then read what stands there, cut it, and
// write at its beginning.
// Expected: there is no file behind it.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int main(void) {
  char text[64] = "";
  struct stat status;
  fstat(1, &status);
  dprintf(2, "armed\n");
  dprintf(2, "regular file: %s\n", S_ISREG(status.st_mode) ? "yes" : "no");
  const int reader = open("/proc/self/fd/1", O_RDONLY | O_NONBLOCK);
  if (pread(reader, text, sizeof text - 1, 0) > 0) dprintf(2, "read: %s\n", text);
  const int writer = open("/proc/self/fd/1", O_WRONLY | O_TRUNC | O_NONBLOCK);
  if (pwrite(writer, "overwritten", 11, 0) > 0) dprintf(2, "wrote over it\n");
  dprintf(2, "truncate: %s\n", ftruncate(1, 0) == 0 ? "done" : strerrorname_np(errno));
  return 0;
}
