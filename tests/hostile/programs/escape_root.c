// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: reach a host file, argv[1], by every way back to the old root that
// escapes have used. With argv[2] ("outside") it is only opened by its own name: the control.
// Expected: no way leads there.
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static void try_path(const char* before, const char* path) {
  char whole[4096];
  snprintf(whole, sizeof whole, "%s%s", before, path);
  const int fd = open(whole, O_RDONLY);
  if (fd >= 0) printf("reached %s\n", whole);
  if (fd >= 0) close(fd);
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const char* const ways[] = {"",
                              "/..",
                              "/../../..",
                              "/old_root",
                              "/oldroot",
                              "/put_old",
                              "/proc/1/root",
                              "/proc/1/cwd/../../..",
                              "/proc/self/root/..",
                              "/proc/self/cwd/../../../..",
                              "/proc/thread-self/root/..",
                              "/dev/fd/../root/..",
                              "/proc/2/root/.."};
  puts("armed");
  for (unsigned i = 0; i < sizeof ways / sizeof *ways; ++i) try_path(ways[i], argv[1]);
  for (int fd = 3; fd < 256; ++fd) {  // a directory that was left open
    if (openat(fd, "..", O_RDONLY | O_DIRECTORY) >= 0) printf("directory at %d\n", fd);
  }
  return 0;
}
