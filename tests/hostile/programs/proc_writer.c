// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: change the host through /proc: opens for writing whatever lets itself be opened
// there, other than what belongs to a process, and names it.
// Expected: nothing.
#define _GNU_SOURCE
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// A file that is covered is the null device: what is written there is nowhere.
static int try_to_open(const char* path, const struct stat* info, int kind, struct FTW* place) {
  (void)place;
  if (kind != FTW_F || S_ISCHR(info->st_mode)) return 0;
  const int fd = open(path, O_WRONLY | O_NONBLOCK);
  if (fd < 0) return 0;
  printf("writable: %s\n", path);
  close(fd);
  return 0;
}

static int is_process(const char* name) {
  return (name[0] >= '0' && name[0] <= '9') || strstr(name, "self") != NULL;
}

static int try_below(const char* path, const struct stat* info, int kind, struct FTW* place) {
  if (place->level == 1 && is_process(path + place->base)) return FTW_SKIP_SUBTREE;
  (void)try_to_open(path, info, kind, place);
  return FTW_CONTINUE;
}

int main(void) {
  puts("armed");
  nftw("/proc", try_below, 16, FTW_PHYS | FTW_ACTIONRETVAL);
  return 0;
}
