// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: two programs that must not know of each other meet, by what argv[1] names. The
// first ("give" in argv[2]) leaves something under the name argv[3], and takes it away
// again when it is asked to end; the second ("take") looks for it.
// Expected: the second is "alone"; where nothing keeps them apart they have "met".
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

enum { kMakeExclusive = IPC_CREAT | IPC_EXCL | 0600, kUserKeyring = -4, kRevoke = 3, kSearch = 10 };

static const char* name;
static long given = -1;  // what was made: at least 0
static char path[300];

static key_t number(void) { return 0x77000000 + atoi(name); }

static void use_path(const char* directory) {
  snprintf(path, sizeof path, "%s/%s", directory, name);
}

static socklen_t unix_address(struct sockaddr_un* address, int is_abstract) {
  address->sun_family = AF_UNIX;
  char* at = address->sun_path + is_abstract;
  snprintf(at, sizeof address->sun_path - 1, "%.80s", is_abstract ? name : path);
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + is_abstract + strlen(at));
}

static int unix_socket(int is_abstract, int (*use)(int, const struct sockaddr*, socklen_t)) {
  struct sockaddr_un address = {0};
  const socklen_t size = unix_address(&address, is_abstract);
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (use(fd, (struct sockaddr*)&address, size) < 0) return -1;
  (void)listen(fd, 4);
  return fd;
}

static int tcp_socket(int (*use)(int, const struct sockaddr*, socklen_t)) {
  const struct sockaddr_in address = {.sin_family = AF_INET,
                                      .sin_port = htons((unsigned short)(20000 + number() % 10000)),
                                      .sin_addr = {htonl(INADDR_LOOPBACK)}};
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (use(fd, (const struct sockaddr*)&address, sizeof address) < 0) return -1;
  (void)listen(fd, 4);
  return fd;
}

static int lock_file(int flags) {
  use_path("/tmp");
  const int fd = open(path, O_CREAT | O_RDWR, 0600);
  return fd < 0 || flock(fd, flags) < 0 ? -1 : fd;
}

static mqd_t open_queue(int flags) {
  char queue[300];
  snprintf(queue, sizeof queue, "/%s", name);
  return mq_open(queue, flags, 0600, NULL);
}

// A process whose words hold the name and "give".
static int find_giver(void) {
  DIR* processes = opendir("/proc");
  int found = -1;
  for (struct dirent* entry; processes != NULL && (entry = readdir(processes)) != NULL;) {
    char words[4096] = "";
    char file[300];
    snprintf(file, sizeof file, "/proc/%.20s/cmdline", entry->d_name);
    const int fd = atoi(entry->d_name) > 0 ? open(file, O_RDONLY) : -1;
    const ssize_t size = fd < 0 ? 0 : read(fd, words, sizeof words - 1);
    close(fd);
    if (size > 0 && memmem(words, (size_t)size, "give", 4) != NULL &&
        memmem(words, (size_t)size, name, strlen(name)) != NULL) {
      found = 1;
    }
  }
  return found;
}

static long give(const char* kind) {
  if (strcmp(kind, "abstract") == 0) return unix_socket(1, bind);
  if (strcmp(kind, "tcp") == 0) return tcp_socket(bind);
  if (strcmp(kind, "lock") == 0) return lock_file(LOCK_EX);
  if (strcmp(kind, "queue") == 0) return open_queue(O_CREAT | O_EXCL | O_RDWR);
  if (strcmp(kind, "segment") == 0) return shmget(number(), 4096, kMakeExclusive);
  if (strcmp(kind, "semaphores") == 0) return semget(number(), 1, kMakeExclusive);
  if (strcmp(kind, "messages") == 0) return msgget(number(), kMakeExclusive);
  if (strcmp(kind, "key") == 0) {
    return syscall(SYS_add_key, "user", name, "x", 1, kUserKeyring);
  }
  if (strcmp(kind, "signal") == 0 || strcmp(kind, "process") == 0) return 0;
  use_path(strcmp(kind, "shm") == 0 ? "/dev/shm" : "/tmp");
  if (strcmp(kind, "socket") == 0) return unix_socket(0, bind);
  return open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
}

static long take(const char* kind) {
  if (strcmp(kind, "abstract") == 0) return unix_socket(1, connect);
  if (strcmp(kind, "tcp") == 0) return tcp_socket(connect);
  if (strcmp(kind, "lock") == 0) {
    return lock_file(LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK ? 0 : -1;
  }
  if (strcmp(kind, "queue") == 0) return open_queue(O_RDWR);
  if (strcmp(kind, "segment") == 0) return shmget(number(), 4096, 0);
  if (strcmp(kind, "semaphores") == 0) return semget(number(), 1, 0);
  if (strcmp(kind, "messages") == 0) return msgget(number(), 0);
  if (strcmp(kind, "key") == 0) return syscall(SYS_keyctl, kSearch, kUserKeyring, "user", name, 0);
  if (strcmp(kind, "signal") == 0) return kill(atoi(name), SIGURG);  // which does nothing
  if (strcmp(kind, "process") == 0) return find_giver();
  use_path(strcmp(kind, "shm") == 0 ? "/dev/shm" : "/tmp");
  if (strcmp(kind, "socket") == 0) return unix_socket(0, connect);
  return open(path, O_RDWR);
}

static void take_away(const char* kind) {
  if (path[0] != '\0') unlink(path);
  if (strcmp(kind, "queue") == 0) {
    char queue[300];
    snprintf(queue, sizeof queue, "/%s", name);
    mq_unlink(queue);
  }
  if (given < 0) return;
  if (strcmp(kind, "segment") == 0) shmctl((int)given, IPC_RMID, NULL);
  if (strcmp(kind, "semaphores") == 0) semctl((int)given, 0, IPC_RMID);
  if (strcmp(kind, "messages") == 0) msgctl((int)given, IPC_RMID, NULL);
  if (strcmp(kind, "key") == 0) syscall(SYS_keyctl, kRevoke, given);
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  name = argv[3];
  setvbuf(stdout, NULL, _IONBF, 0);
  if (strcmp(argv[2], "take") == 0) {
    puts(take(argv[1]) >= 0 ? "met" : "alone");
    return 0;
  }
  sigset_t end;
  sigemptyset(&end);
  sigaddset(&end, SIGTERM);
  sigprocmask(SIG_BLOCK, &end, NULL);
  given = give(argv[1]);
  printf("armed%s\n", given < 0 ? ": refused" : "");
  int caught = 0;
  sigwait(&end, &caught);
  take_away(argv[1]);
  return 0;
}
