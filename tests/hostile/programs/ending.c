// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// No attack: a program that ends in a way that is known beforehand, for runs by the thousand.
//   exit N | signal N | write SEED BYTES | sleep MS | fill MIB | trace | family CHILDREN MS
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

static void sleep_ms(long ms) { usleep((useconds_t)ms * 1000); }

// By number, since the C library keeps two signals for itself.
static int end_by_signal(int number) {
  syscall(SYS_kill, getpid(), number);
  pause();
  return 1;
}

// The same bytes as tests/faults/mixed_runs.cc expects.
static int write_bytes(uint32_t state, long count) {
  static unsigned char chunk[4096];
  while (count > 0) {
    const size_t size = count < (long)sizeof chunk ? (size_t)count : sizeof chunk;
    for (size_t i = 0; i < size; ++i) {
      state = state * 1664525U + 1013904223U;
      chunk[i] = (unsigned char)(state >> 24U);
    }
    for (size_t done = 0; done < size;) {
      const ssize_t n = write(1, chunk + done, size - done);
      if (n < 0) return 1;
      done += (size_t)n;
    }
    count -= (long)size;
  }
  return 0;
}

static int fill_memory(long mib) {
  const size_t size = (size_t)mib << 20U;
  char* memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  memset(memory, 1, size);
  pause();  // for a limit that looks now and then
  return 1;
}

static int leave_family(long children, long ms) {
  for (long i = 0; i < children; ++i) {
    const pid_t pid = fork();
    if (pid < 0) return 1;
    if (pid == 0) {
      setsid();
      signal(SIGTERM, SIG_IGN);
      for (;;) pause();
    }
  }
  sleep_ms(ms);
  return 3;
}

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "";
  const long number = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
  const long second = argc > 3 ? strtol(argv[3], NULL, 10) : 0;
  if (strcmp(way, "exit") == 0) return (int)number;
  if (strcmp(way, "signal") == 0) return end_by_signal((int)number);
  if (strcmp(way, "write") == 0) return write_bytes((uint32_t)number, second);
  if (strcmp(way, "sleep") == 0) return sleep_ms(number), 0;
  if (strcmp(way, "fill") == 0) return fill_memory(number);
  if (strcmp(way, "trace") == 0)
    return ptrace(PTRACE_TRACEME, 0, 0, 0) < 0 && errno == EPERM ? 0 : 1;
  if (strcmp(way, "family") == 0) return leave_family(number, second);
  return 2;
}
