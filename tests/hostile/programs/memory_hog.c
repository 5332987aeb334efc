// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: use more memory than allowed, argv[1] MiB, in a child if argv[2] is
// "child": the process that the supervisor started stays innocent then.
// Expected: the run ends as out of memory.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int hog(int mebibytes) {
  for (int i = 0; i < mebibytes; ++i) {
    char* block = malloc(1 << 20);
    if (block == NULL) {
      puts("malloc failed");
      return 1;
    }
    memset(block, i + 1, 1 << 20);
    // The compiler must not see that nobody reads the block.
    __asm__ volatile("" : : "r"(block) : "memory");
  }
  printf("held %d MiB\n", mebibytes);
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  setvbuf(stdout, NULL, _IONBF, 0);
  puts("armed");
  if (argc < 3) return hog(atoi(argv[1]));
  if (fork() == 0) _exit(hog(atoi(argv[1])));
  int status = 0;
  wait(&status);
  sleep(20);  // the victim was another one: it is the supervisor's to end us
  return 0;
}
