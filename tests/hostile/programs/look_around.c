// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: learn about the supervisor and its caller through /proc: environment,
// arguments, descriptors, directories, memory of every process that is to be seen.
// Expected: only init and the attacker are there, and init gives nothing away.
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void try_file(long pid, const char* name) {
  char path[300];
  char text[4096];
  snprintf(path, sizeof path, "/proc/%ld/%s", pid, name);
  const int fd = open(path, O_RDONLY);
  const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);
  if (n > 0) printf("%s gives %zd bytes\n", path, n);
  if (fd >= 0) close(fd);
}

static void try_link(long pid, const char* name) {
  char path[300];
  char target[4096];
  snprintf(path, sizeof path, "/proc/%ld/%s", pid, name);
  if (readlink(path, target, sizeof target) > 0) printf("%s can be read\n", path);
}

int main(void) {
  puts("armed");
  DIR* proc = opendir("/proc");
  for (struct dirent* entry; proc != NULL && (entry = readdir(proc)) != NULL;) {
    const long pid = strtol(entry->d_name, NULL, 10);
    if (pid <= 0 || pid == getpid()) continue;
    printf("process %ld\n", pid);
  }
  for (long pid = 1; pid < 400; ++pid) {  // hidden from the list is not enough
    if (pid == getpid()) continue;
    try_file(pid, "environ");
    try_file(pid, "cmdline");
    try_file(pid, "maps");
    try_file(pid, "mem");
    try_link(pid, "cwd");
    try_link(pid, "root");
    try_link(pid, "exe");
    for (int fd = 0; fd < 20; ++fd) {
      char name[32];
      snprintf(name, sizeof name, "fd/%d", fd);
      try_link(pid, name);
    }
  }
  return 0;
}
