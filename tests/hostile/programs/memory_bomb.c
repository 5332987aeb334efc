// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: hold argv[2] MiB of memory that belongs to no process' own pages, in the kind
// that argv[1] names: shm (a file in /dev/shm), memory (memfd_create), segment, semaphores and
// messages (System V), pipes, pairs (UNIX sockets), tables (page tables), tcp (loopback).
// Expected: out of memory where it is counted, an errno where it is refused.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <unistd.h>

static char block[1 << 20];
static int objects[32000];  // what stays when the process has ended, outside a box
static int made;
static int is_queue;

static void remove_objects(void) {
  while (made > 0) {
    --made;
    if (is_queue) msgctl(objects[made], IPC_RMID, NULL);
    if (!is_queue) semctl(objects[made], 0, IPC_RMID);
  }
}

static void stop(long mebibytes) {
  printf("%s after %ld MiB\n", strerrorname_np(errno), mebibytes);
  exit(1);  // and removes what was made
}

static void keep(int id, long mebibytes) {
  if (id < 0 || made == sizeof objects / sizeof objects[0]) stop(mebibytes);
  objects[made++] = id;
}

static void fill_file(int fd, long mebibytes) {
  for (long i = 0; i < mebibytes; ++i) {
    if (fd < 0 || write(fd, block, sizeof block) != (ssize_t)sizeof block) stop(i);
  }
}

static int open_shared(void) {
  const int fd = open("/dev/shm/bomb", O_CREAT | O_EXCL | O_RDWR, 0600);
  unlink("/dev/shm/bomb");  // what is open stays
  return fd;
}

static void fill_segments(long mebibytes) {
  for (long i = 0; i < mebibytes; ++i) {
    const int id = shmget(IPC_PRIVATE, sizeof block, IPC_CREAT | 0600);
    char* at = id < 0 ? (char*)-1 : shmat(id, NULL, 0);
    if (at == (char*)-1) stop(i);
    memset(at, 1, sizeof block);
    shmctl(id, IPC_RMID, NULL);
  }
}

// 64 bytes each in the kernel.
static void fill_semaphores(long mebibytes) {
  for (long i = 0; i < mebibytes; ++i) {
    keep(semget(IPC_PRIVATE, 16384, IPC_CREAT | 0600), i);
  }
}

static void fill_messages(long mebibytes) {
  static struct {
    long kind;
    char text[8000];
  } message = {1, ""};
  for (long i = 0; i < mebibytes; ++i) {
    for (int queue = 0; queue < 64; ++queue) {  // 16 KiB a queue
      keep(msgget(IPC_PRIVATE, IPC_CREAT | 0600), i);
      while (msgsnd(objects[made - 1], &message, sizeof message.text, IPC_NOWAIT) == 0) continue;
    }
  }
}

static long write_all_that_fits(int fd) {
  long bytes = 0;
  fcntl(fd, F_SETFL, O_NONBLOCK);
  for (ssize_t n; (n = write(fd, block, 65536)) > 0;) bytes += n;
  return bytes;
}

static void fill_ends(int (*make)(int*), long mebibytes) {
  for (long bytes = 0; bytes >> 20 < mebibytes;) {
    int ends[2];
    if (make(ends) < 0) stop(bytes >> 20);
    const long more = write_all_that_fits(ends[1]);
    if (more == 0) stop(bytes >> 20);
    bytes += more;
  }
}

static int make_pair(int* ends) { return socketpair(AF_UNIX, SOCK_STREAM, 0, ends); }

static int listener = -1;

static int make_connection(int* ends) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof address;
  if (listener < 0) {
    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr*)&address, size) < 0 || listen(listener, 1) < 0) return -1;
  }
  getsockname(listener, (struct sockaddr*)&address, &size);
  ends[1] = socket(AF_INET, SOCK_STREAM, 0);
  if (ends[1] < 0 || connect(ends[1], (struct sockaddr*)&address, size) < 0) return -1;
  return ends[0] = accept(listener, NULL, NULL);
}

// A table of 4 KiB for each 2 MiB that are looked at.
static void fill_tables(long mebibytes) {
  const size_t span = (size_t)2 << 20;
  for (long i = 0; i < mebibytes * 256; ++i) {
    const char* at =
        mmap(NULL, span, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) stop(i / 256);
    madvise((void*)at, span, MADV_NOHUGEPAGE);
    if (*(const volatile char*)(at + span / 2) != 0) return;
  }
}

// As many as may be: login shells have a thousand.
static void raise_open_files(void) {
  struct rlimit files;
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  raise_open_files();
  setvbuf(stdout, NULL, _IONBF, 0);
  is_queue = strcmp(argv[1], "messages") == 0;
  atexit(remove_objects);
  puts("armed");
  memset(block, 1, sizeof block);
  const long wanted = atol(argv[2]);
  if (strcmp(argv[1], "shm") == 0) fill_file(open_shared(), wanted);
  if (strcmp(argv[1], "memory") == 0) fill_file(memfd_create("bomb", 0), wanted);
  if (strcmp(argv[1], "segment") == 0) fill_segments(wanted);
  if (strcmp(argv[1], "semaphores") == 0) fill_semaphores(wanted);
  if (strcmp(argv[1], "messages") == 0) fill_messages(wanted);
  if (strcmp(argv[1], "pipes") == 0) fill_ends(pipe, wanted);
  if (strcmp(argv[1], "pairs") == 0) fill_ends(make_pair, wanted);
  if (strcmp(argv[1], "tcp") == 0) fill_ends(make_connection, wanted);
  if (strcmp(argv[1], "tables") == 0) fill_tables(wanted);
  printf("held %ld MiB\n", wanted);
  return 0;
}
