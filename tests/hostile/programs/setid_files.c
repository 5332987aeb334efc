// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: leave a setuid or setgid file in a directory of the host, argv[1],
// through every call that takes a mode.
// Expected: no file there has such a mode; ordinary files can be made.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int has_setid_file(void) {
  const char* const names[] = {"open",   "openat",   "creat",     "mknod",   "mknodat", "chmod",
                               "fchmod", "fchmodat", "fchmodat2", "openat2", "linked"};
  int found = 0;
  for (unsigned i = 0; i < sizeof names / sizeof *names; ++i) {
    struct stat status;
    if (stat(names[i], &status) == 0 && (status.st_mode & 06000) != 0) {
      printf("setid: %s\n", names[i]);
      found = 1;
    }
  }
  return found;
}

static const char* make_plain(const char* name) {
  close(open(name, O_CREAT | O_WRONLY, 0755));
  return name;
}

int main(int argc, char** argv) {
  if (argc != 2 || chdir(argv[1]) != 0) return 2;
  puts("armed");
  umask(0);
  close((int)syscall(SYS_open, "open", O_CREAT | O_WRONLY, 04755));
  close((int)syscall(SYS_openat, AT_FDCWD, "openat", O_CREAT | O_WRONLY, 06755));
  close((int)syscall(SYS_creat, "creat", 04755));
  (void)syscall(SYS_mknod, "mknod", S_IFREG | 04755, 0);
  (void)syscall(SYS_mknodat, AT_FDCWD, "mknodat", S_IFREG | 02755, 0);
  (void)chmod(make_plain("chmod"), 04755);
  const int fd = open(make_plain("fchmod"), O_RDONLY);
  (void)fchmod(fd, 04755);
  (void)fchmodat(AT_FDCWD, make_plain("fchmodat"), 04755, 0);
  (void)syscall(452, AT_FDCWD, make_plain("fchmodat2"), 04755, 0);
  const unsigned long long how[3] = {O_CREAT | O_WRONLY, 04755, 0};
  (void)syscall(SYS_openat2, AT_FDCWD, "openat2", how, sizeof how);
  const int unnamed = (int)syscall(SYS_openat, AT_FDCWD, ".", O_TMPFILE | O_WRONLY, 04755);
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", unnamed);
  if (unnamed >= 0) (void)linkat(AT_FDCWD, link, AT_FDCWD, "linked", AT_SYMLINK_FOLLOW);
  return has_setid_file();
}
