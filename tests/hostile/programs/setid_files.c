// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: leave a setuid or setgid file, or one with capabilities, in a directory of the
// host, argv[1], through every call that takes a mode or sets one. It names those that worked.
// Expected: no file there has such a mode; ordinary files can be made.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define FCHMODAT2 452
#define HIGH_BITS (1UL << 32)

static int has_setid_file(void) {
  const char* const names[] = {"open",   "openat",    "creat",         "mknod",     "mknodat",
                               "chmod",  "fchmod",    "fchmodat",      "fchmodat2", "openat2",
                               "linked", "high_bits", "by_link",       "emptypath", "directory",
                               "mkdir",  "mkdirat",   "extracted/tool"};
  int found = 0;
  for (unsigned i = 0; i < sizeof names / sizeof *names; ++i) {
    struct stat status;
    if (stat(names[i], &status) == 0 && (status.st_mode & 06000) != 0) {
      printf("setid: %s\n", names[i]);
      found = 1;
    }
  }
  if (getxattr("capable", "security.capability", NULL, 0) > 0) {
    puts("capabilities: setxattr");
    found = 1;
  }
  return found;
}

static const char* make_plain(const char* name) {
  close(open(name, O_CREAT | O_WRONLY, 0755));
  return name;
}

static void by_other_descriptors(void) {
  char link[64];
  const int place = open(make_plain("by_link"), O_PATH);
  snprintf(link, sizeof link, "/proc/self/fd/%d", place);
  (void)chmod(link, 04755);
  const int empty = open(make_plain("emptypath"), O_PATH);
  (void)syscall(FCHMODAT2, empty, "", 04755, AT_EMPTY_PATH);
}

static void by_directories(void) {
  (void)mkdir("mkdir", 02755);
  (void)mkdirat(AT_FDCWD, "mkdirat", 02755);
  (void)mkdir("directory", 0755);
  (void)chmod("directory", 02755);
}

// What the kernel keeps for itself: cap_chown, permitted and effective (capabilities(7)).
static void by_capabilities(void) {
  const unsigned value[5] = {0x02000001, 1, 0, 0, 0};
  (void)setxattr(make_plain("capable"), "security.capability", value, sizeof value, 0);
}

// An archive in argv[2] that holds a setuid `tool`, as somebody's tar would unpack it.
static void by_archive(const char* archive) {
  (void)mkdir("extracted", 0755);
  const pid_t pid = fork();
  if (pid == 0) {
    close(2);
    execl("/bin/tar", "tar", "-xpf", archive, "-C", "extracted", (char*)NULL);
    _exit(1);
  }
  waitpid(pid, NULL, 0);
}

int main(int argc, char** argv) {
  if (argc != 3 || chdir(argv[1]) != 0) return 2;
  puts("armed");
  fflush(stdout);
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
  (void)syscall(FCHMODAT2, AT_FDCWD, make_plain("fchmodat2"), 04755, 0);
  (void)syscall(SYS_chmod, make_plain("high_bits"), HIGH_BITS | 04755);
  const unsigned long long how[3] = {O_CREAT | O_WRONLY, 04755, 0};
  (void)syscall(SYS_openat2, AT_FDCWD, "openat2", how, sizeof how);
  const int unnamed = (int)syscall(SYS_openat, AT_FDCWD, ".", O_TMPFILE | O_WRONLY, 04755);
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", unnamed);
  if (unnamed >= 0) (void)linkat(AT_FDCWD, link, AT_FDCWD, "linked", AT_SYMLINK_FOLLOW);
  by_other_descriptors();
  by_directories();
  by_capabilities();
  by_archive(argv[2]);
  return has_setid_file();
}
