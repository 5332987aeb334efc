// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: put argv[3] MiB into the host directory argv[2], where nothing but a look at
// it holds the program to less, in the way that argv[1] names:
//   plain     one file after the other
//   unnamed   files that were removed and are only held open
//   hidden    the same, by a process whose descriptors an ordinary user may not list
//   apart     the same, by a thread with descriptors of its own
//   closed    in directories that their owner may not look into
//   moved     in a directory that never stays where it is
// Expected: the run ends as disk_limit. Told to put in little, it prints "filled".
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char block[1 << 20];

static void pause_ms(long milliseconds) {
  const struct timespec time = {0, milliseconds * 1000000};
  nanosleep(&time, NULL);
}

static int put_block(const char* name) {
  const int fd = open(name, O_CREAT | O_WRONLY, 0644);
  if (fd < 0 || write(fd, block, sizeof block) != (ssize_t)sizeof block) exit(3);
  return fd;
}

static void put(const char* way, int number) {
  char name[64];
  snprintf(name, sizeof name, "file%d", number);
  if (strcmp(way, "unnamed") == 0 || strcmp(way, "hidden") == 0 || strcmp(way, "apart") == 0) {
    put_block(name);  // the descriptor stays
    unlink(name);
  } else if (strcmp(way, "closed") == 0) {
    snprintf(name, sizeof name, "closed%d", number);
    mkdir(name, 0700);
    snprintf(name, sizeof name, "closed%d/file", number);
    close(put_block(name));
    *strchr(name, '/') = '\0';
    chmod(name, 0);
  } else if (strcmp(way, "moved") == 0) {
    snprintf(name, sizeof name, "%s/file%d", number % 2 ? "here" : "there", number);
    close(put_block(name));
    rename(number % 2 ? "here" : "there", number % 2 ? "there" : "here");
  } else {
    close(put_block(name));
  }
}

static void* fill(void* words) {
  char** argv = words;
  if (strcmp(argv[1], "apart") == 0 && unshare(CLONE_FILES) != 0) exit(4);
  const int blocks = atoi(argv[3]);
  for (int i = 1; i <= blocks; ++i) {
    put(argv[1], i);
    pause_ms(2);
  }
  pause_ms(100);
  return NULL;
}

int main(int argc, char** argv) {
  if (argc != 4 || chdir(argv[2]) != 0) return 2;
  mkdir("here", 0755);
  puts("armed");
  fflush(stdout);
  if (strcmp(argv[1], "hidden") == 0) prctl(PR_SET_DUMPABLE, 0);
  pthread_t thread;
  if (pthread_create(&thread, NULL, fill, argv) != 0) return 5;
  pthread_join(thread, NULL);
  puts("filled");
  return 0;
}
