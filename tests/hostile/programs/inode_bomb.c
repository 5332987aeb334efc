// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: use up the inodes of /tmp by argv[2] files of the kind that argv[1] names.
// Expected: ENOSPC at the limit.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static int make(const char* kind, const char* name) {
  if (strcmp(kind, "directory") == 0) return mkdir(name, 0755);
  if (strcmp(kind, "symlink") == 0) return symlink("nowhere", name);
  if (strcmp(kind, "link") == 0) return link("first", name);
  if (strcmp(kind, "fifo") == 0) return mkfifo(name, 0600);
  if (strcmp(kind, "socket") == 0) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, name, sizeof address.sun_path - 1);
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    const int result = bind(fd, (struct sockaddr*)&address, sizeof address);
    const int error = errno == EADDRINUSE ? 0 : errno;
    close(fd);
    errno = error;
    return result;
  }
  const int fd = open(name, O_CREAT | O_WRONLY, 0600);
  return fd < 0 ? -1 : close(fd);
}

int main(int argc, char** argv) {
  if (argc != 3 || chdir("/tmp") != 0) return 2;
  puts("armed");
  close(open("first", O_CREAT | O_WRONLY, 0600));
  const int wanted = atoi(argv[2]);
  int made = 0;
  for (char name[32]; made < wanted; ++made) {
    snprintf(name, sizeof name, "%d", made);
    if (make(argv[1], name) < 0) break;
  }
  printf("%s after %d\n", made < wanted ? strerrorname_np(errno) : "done", made);
  return 0;
}
