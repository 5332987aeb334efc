// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: hold argv[1] MiB where no process shows them: pages of a shared mapping stay
// when they are no longer mapped in. argv[2] is "anonymous", or "zero" for /dev/zero.
// Expected: out of memory where they are counted, no such mapping where they are not.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  setvbuf(stdout, NULL, _IONBF, 0);
  puts("armed");
  const size_t size = (size_t)atoi(argv[1]) << 20;
  const int file = strcmp(argv[2], "zero") == 0 ? open("/dev/zero", O_RDWR) : -1;
  char* memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_SHARED | (file < 0 ? MAP_ANONYMOUS : 0), file, 0);
  if (memory == MAP_FAILED) {
    puts("no mapping");
    return 1;
  }
  const size_t step = 1 << 20;
  for (size_t at = 0; at < size; at += step) {
    memset(memory + at, 1, step);
    if (madvise(memory + at, step, MADV_DONTNEED) < 0) return 3;
    usleep(1000);  // as slow as a watcher needs to see what it can see
  }
  printf("held %zu MiB\n", memory[size / 2] == 1 ? size >> 20 : 0);
  return 0;
}
