// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: enter the kernel by the 32-bit gate, where numbers mean other calls.
// Expected: killed by SIGSYS. Control: outside it is just getpid.
#include <stdio.h>
#include <unistd.h>

int main(void) {
  long result = -1;
  if (write(1, "armed\n", 6) != 6) return 1;
#ifdef __x86_64__
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory", "r8", "r9", "r10", "r11");
#endif
  puts(result == getpid() ? "got the pid" : "another answer");
  return 0;
}
