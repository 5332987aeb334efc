// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: type a line into the terminal that we were started on, for the caller's
// shell to read when we are gone. Prints "FD CALL ERRNO" ("OK" if it went through)
// for each way.
// Expected: EPERM each time, and nothing to read for the shell.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HIGH_BITS (1UL << 32)

static void type(int fd, const char* name, unsigned long call) {
  long result = 0;
  for (const char* at = "typed\n"; *at != 0 && result >= 0; ++at) {
    result = syscall(SYS_ioctl, fd, call, at);
  }
  printf("%d %s %s\n", fd, name, result >= 0 ? "OK" : strerrorname_np(errno));
}

static void paste(int fd, const char* name, unsigned long call) {
  char selection[] = {3, 0};  // TIOCL_PASTESEL, ioctl_console(2)
  printf("%d %s %s\n", fd, name,
         syscall(SYS_ioctl, fd, call, selection) >= 0 ? "OK" : strerrorname_np(errno));
}

int main(void) {
  puts("armed");
  const int tty = open("/dev/tty", O_RDWR);
  for (int fd = 0; fd < 4; ++fd) {
    if (fd == 3 && tty < 0) break;
    type(fd == 3 ? tty : fd, "TIOCSTI", TIOCSTI);
    type(fd == 3 ? tty : fd, "TIOCSTI+", HIGH_BITS | TIOCSTI);
    paste(fd == 3 ? tty : fd, "TIOCLINUX", TIOCLINUX);
    paste(fd == 3 ? tty : fd, "TIOCLINUX+", HIGH_BITS | TIOCLINUX);
  }
  return 0;
}
