// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: a system call by its x32 number, which a filter of plain numbers misses.
// Expected: killed by SIGSYS.
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void) {
  if (write(1, "armed\n", 6) != 6) return 1;
  const long result = syscall(0x40000000 | SYS_getpid);
  puts(result < 0 ? "refused" : "answered");
  return 0;
}
