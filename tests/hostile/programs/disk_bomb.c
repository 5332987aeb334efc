// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: fill the disk by argv[2] MiB without writing to a file: "allocate" has blocks
// reserved, "mapped" touches a file's pages, "attributes" hangs them on files as attributes.
// Expected: no space, or SIGBUS where there is no call to fail.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { kMebibyte = 1 << 20, kAttribute = 1 << 15 };

static int allocate(int fd, long at) { return fallocate(fd, 0, at * kMebibyte, kMebibyte); }

static int touch_pages(int fd, long at) {
  if (ftruncate(fd, (at + 1) * kMebibyte) < 0) return -1;
  char* pages = mmap(NULL, kMebibyte, PROT_WRITE, MAP_SHARED, fd, at * kMebibyte);
  if (pages == MAP_FAILED) return -1;
  memset(pages, 1, kMebibyte);
  return munmap(pages, kMebibyte);
}

static int add_attributes(int fd, long at) {
  static const char value[kAttribute];
  (void)fd;
  for (int i = 0; i < kMebibyte / kAttribute; ++i) {
    char name[32];
    snprintf(name, sizeof name, "%ld-%d", at, i);
    close(open(name, O_CREAT | O_WRONLY, 0600));
    if (setxattr(name, "user.bomb", value, sizeof value, 0) < 0) return -1;
  }
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 3 || chdir("/tmp") != 0) return 2;
  setvbuf(stdout, NULL, _IONBF, 0);
  puts("armed");
  const int fd = open("bomb", O_CREAT | O_RDWR, 0600);
  int (*const fill)(int, long) = strcmp(argv[1], "allocate") == 0 ? allocate
                                 : strcmp(argv[1], "mapped") == 0 ? touch_pages
                                                                  : add_attributes;
  for (long at = 0; at < atol(argv[2]); ++at) {
    if (fill(fd, at) == 0) continue;
    printf("%s after %ld MiB\n", strerrorname_np(errno), at);
    return 1;
  }
  usleep(100000);  // a watcher that can only look from time to time must see it
  puts("done");
  return 0;
}
