// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// What native programs ask of the kernel: threads, processes, timers, signals, shared memory,
// code made at run time, descriptors of every kind and passed to others.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition)                                                           \
  do {                                                                             \
    if (!(condition)) {                                                            \
      fprintf(stderr, "line %d: %s: %s\n", __LINE__, #condition, strerror(errno)); \
      exit(1);                                                                     \
    }                                                                              \
  } while (0)

static void ended_well(pid_t pid) {
  int status = -1;
  CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

static void* add_one(void* counter) {
  for (int i = 0; i < 1000; ++i) __atomic_add_fetch((int*)counter, 1, __ATOMIC_SEQ_CST);
  return counter;
}

static void threads(void) {
  pthread_t ids[16];
  int counter = 0;
  for (int i = 0; i < 16; ++i) CHECK(pthread_create(&ids[i], NULL, add_one, &counter) == 0);
  cpu_set_t cpus;
  CHECK(pthread_getaffinity_np(ids[0], sizeof cpus, &cpus) == 0 && CPU_COUNT(&cpus) > 0);
  for (int i = 0; i < 16; ++i) CHECK(pthread_join(ids[i], NULL) == 0);
  CHECK(counter == 16000);
}

static void shared_memory(void) {
  const int fd = shm_open("/native", O_CREAT | O_RDWR, 0600);
  CHECK(fd >= 0 && ftruncate(fd, 4096) == 0);
  int* shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  CHECK(shared != MAP_FAILED);
  sem_t* ready = sem_open("/ready", O_CREAT, 0600, 0);
  CHECK(ready != SEM_FAILED);
  const pid_t pid = fork();
  if (pid == 0) {
    *shared = 42;
    _exit(sem_post(ready) != 0);
  }
  CHECK(pid > 0 && sem_wait(ready) == 0 && *shared == 42);
  ended_well(pid);
  CHECK(sem_unlink("/ready") == 0 && shm_unlink("/native") == 0);
}

static void descriptors(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
  const struct itimerspec soon = {.it_value.tv_nsec = 1000000};
  const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  const int event = eventfd(1, EFD_CLOEXEC);
  const int signals = signalfd(-1, &set, SFD_CLOEXEC);
  const int watch = inotify_init1(IN_CLOEXEC);
  CHECK(timer >= 0 && event >= 0 && signals >= 0 && watch >= 0);
  CHECK(timerfd_settime(timer, 0, &soon, NULL) == 0 && raise(SIGUSR1) == 0);
  CHECK(inotify_add_watch(watch, ".", IN_CREATE) >= 0);
  CHECK(close(open("made", O_CREAT | O_WRONLY, 0600)) == 0);
  const int all = epoll_create1(EPOLL_CLOEXEC);
  const int sources[] = {timer, event, signals, watch};
  for (int i = 0; i < 4; ++i) {
    struct epoll_event wanted = {.events = EPOLLIN, .data.fd = sources[i]};
    CHECK(epoll_ctl(all, EPOLL_CTL_ADD, sources[i], &wanted) == 0);
  }
  for (int i = 0; i < 4; ++i) {
    char bytes[512];
    struct epoll_event got;
    CHECK(epoll_wait(all, &got, 1, 20000) == 1);
    CHECK(read(got.data.fd, bytes, sizeof bytes) > 0);
    CHECK(epoll_ctl(all, EPOLL_CTL_DEL, got.data.fd, NULL) == 0);
  }
}

// The other end writes to a file that only this process has opened.
static void passed_descriptor(void) {
  int ends[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  char byte = 'x', space[CMSG_SPACE(sizeof(int))] = {0};
  struct iovec part = {&byte, 1};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
  const pid_t pid = fork();
  if (pid == 0) {
    int fd = -1;
    if (recvmsg(ends[1], &message, 0) == 1)
      memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    _exit(write(fd, "passed", 6) != 6);
  }
  const int file = open("file", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  struct cmsghdr* head = CMSG_FIRSTHDR(&message);
  *head = (struct cmsghdr){CMSG_LEN(sizeof file), SOL_SOCKET, SCM_RIGHTS};
  memcpy(CMSG_DATA(head), &file, sizeof file);
  CHECK(sendmsg(ends[0], &message, 0) == 1);
  ended_well(pid);
  CHECK(lseek(file, 0, SEEK_CUR) == 6);
}

static void made_code(void) {
#ifdef __x86_64__
  const unsigned char code[] = {0xb8, 42, 0, 0, 0, 0xc3};  // mov $42, %eax; ret
  void* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(page != MAP_FAILED);
  memcpy(page, code, sizeof code);
  CHECK(mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0);
  CHECK(((int (*)(void))(intptr_t)page)() == 42);
#endif
}

static volatile sig_atomic_t alarms;
static void count_alarm(int number) { alarms += number == SIGALRM; }

static void timers(void) {
  struct sigaction action = {.sa_handler = count_alarm};
  CHECK(sigaction(SIGALRM, &action, NULL) == 0);
  timer_t timer;
  const struct itimerspec soon = {.it_value.tv_nsec = 1000000};
  CHECK(timer_create(CLOCK_REALTIME, NULL, &timer) == 0);
  CHECK(timer_settime(timer, 0, &soon, NULL) == 0);
  for (int i = 0; i < 2000 && alarms == 0; ++i) usleep(10000);
  CHECK(alarms == 1 && timer_delete(timer) == 0);
}

static void spawned(void) {
  char* const argv[] = {"sh", "-c", "exit 0", NULL};
  pid_t pid = -1;
  CHECK(posix_spawnp(&pid, "sh", NULL, NULL, argv, environ) == 0);
  ended_well(pid);
}

int main(void) {
  char bytes[16] = {0};
  CHECK(getrandom(bytes, sizeof bytes, 0) == sizeof bytes);
  threads();
  shared_memory();
  descriptors();
  passed_descriptor();
  made_code();
  timers();
  spawned();
  puts("works");
  return 0;
}
