// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: reach what is of the same user on the host, as argv names it:
//   reach_host victim             is one to be attacked: prints its pid, takes what it can't refuse
//   reach_host DIR PID TCP ABSTRACT
// DIR has the files `secret` and `gone`, and sockets `stream` and `datagram` that somebody listens
// on; PID is a victim; on the loopback port TCP somebody listens; ABSTRACT is a socket's name.
// Prints "reached NAME" for each way that works. Expected: none does.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

static char path[4096];

static const char* in(const char* dir, const char* name) {
  snprintf(path, sizeof path, "%s/%s", dir, name);
  return path;
}

static void tell(const char* name, int reached) {
  if (reached) printf("reached %s\n", name);
}

static int can_open(const char* file, int flags) {
  const int fd = open(file, flags | O_CLOEXEC, 0644);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

static void reach_files(const char* dir) {
  char other[4096];
  tell("read", can_open(in(dir, "secret"), O_RDONLY));
  tell("list", can_open(dir, O_RDONLY | O_DIRECTORY));
  tell("write", can_open(in(dir, "secret"), O_WRONLY));
  tell("create", can_open(in(dir, "new"), O_CREAT | O_WRONLY));
  tell("mkdir", mkdir(in(dir, "made"), 0755) == 0);
  tell("truncate", truncate(in(dir, "secret"), 0) == 0);
  snprintf(other, sizeof other, "%s/gone", dir);
  tell("link", link(other, in(dir, "other name")) == 0);
  tell("rename", rename(other, in(dir, "renamed")) == 0);
  tell("unlink", unlink(in(dir, "renamed")) == 0 || unlink(in(dir, "gone")) == 0);
  tell("chmod", chmod(in(dir, "secret"), 0600) == 0);
  tell("fchmodat", fchmodat(AT_FDCWD, in(dir, "secret"), 0600, 0) == 0);
  tell("chown", chown(in(dir, "secret"), (uid_t)-1, getegid()) == 0);
  const struct timeval times[2] = {{1, 0}, {1, 0}};
  tell("utimes", utimes(in(dir, "secret"), times) == 0);
  tell("setxattr", setxattr(in(dir, "secret"), "user.x", "1", 1, 0) == 0);
  tell("execute", access(in(dir, "tool"), X_OK) == 0 && can_open(in(dir, "tool"), O_RDONLY));
}

static int connect_to(int family, int type, const void* address, socklen_t size) {
  const int fd = socket(family, type | SOCK_CLOEXEC, 0);
  if (fd < 0) return 0;
  const int done = connect(fd, address, size) == 0;
  close(fd);
  return done;
}

static socklen_t name_socket(struct sockaddr_un* address, const char* name, int abstract) {
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  snprintf(address->sun_path + abstract, sizeof address->sun_path - 1, "%s", name);
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)abstract + strlen(name));
}

static void reach_sockets(const char* dir, const char* port, const char* abstract) {
  struct sockaddr_in inet = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
  inet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  tell("tcp", connect_to(AF_INET, SOCK_STREAM, &inet, sizeof inet));
  tell("udp", connect_to(AF_INET, SOCK_DGRAM, &inet, sizeof inet));
  const struct sockaddr_nl netlink = {.nl_family = AF_NETLINK};
  tell("netlink", connect_to(AF_NETLINK, SOCK_RAW, &netlink, sizeof netlink));
  struct sockaddr_un name;
  socklen_t size = name_socket(&name, in(dir, "stream"), 0);
  tell("unix", connect_to(AF_UNIX, SOCK_STREAM, &name, size));
  size = name_socket(&name, abstract, 1);
  tell("abstract", connect_to(AF_UNIX, SOCK_STREAM, &name, size));
  size = name_socket(&name, in(dir, "datagram"), 0);
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) == 0) {
    tell("pair", sendto(pair[0], "x", 1, 0, (const void*)&name, size) == 1);
  }
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0) {
    tell("stream pair", sendto(pair[0], "x", 1, 0, (const void*)&name, size) == 1);
  } else {
    puts("no pair of streams");
  }
}

static void reach_process(pid_t pid) {
  char file[64];
  snprintf(file, sizeof file, "/proc/%d/environ", (int)pid);
  tell("environ", can_open(file, O_RDONLY));
  snprintf(file, sizeof file, "/proc/%d/mem", (int)pid);
  tell("mem", can_open(file, O_RDONLY));
  snprintf(file, sizeof file, "/proc/%d/oom_score_adj", (int)pid);
  tell("oom_score_adj", can_open(file, O_WRONLY));
  snprintf(file, sizeof file, "/proc/%d/root/etc/hostname", (int)pid);
  tell("root", can_open(file, O_RDONLY));
  char byte;
  const struct iovec here = {&byte, 1};
  const struct iovec there = {(void*)&path, 1};
  tell("process_vm_readv", process_vm_readv(pid, &here, 1, &there, 1, 0) == 1);
  tell("ptrace", ptrace(PTRACE_SEIZE, pid, 0, 0) == 0);
  tell("kill", kill(pid, 0) == 0);
  const int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
  tell("pidfd", pidfd >= 0 && syscall(SYS_pidfd_send_signal, pidfd, 0, 0, 0) == 0);
  const struct rlimit limit = {1000, 1000};
  tell("prlimit", prlimit(pid, RLIMIT_NOFILE, &limit, NULL) == 0);
  tell("setpriority", setpriority(PRIO_PROCESS, (id_t)pid, 10) == 0);
  const struct sched_param param = {0};
  tell("scheduler", sched_setscheduler(pid, SCHED_BATCH, &param) == 0);
}

static void reach_objects(void) {
  const int id = shmget(IPC_PRIVATE, 4096, 0600);
  tell("shared memory", id >= 0);
  if (id >= 0) shmctl(id, IPC_RMID, NULL);
  const mqd_t queue = mq_open("/wardcase-test", O_CREAT | O_RDWR, 0600, NULL);
  tell("message queue", queue >= 0);
  if (queue >= 0) mq_unlink("/wardcase-test");
}

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "victim") == 0) {
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    printf("%d\n", (int)getpid());
    fflush(stdout);
    for (;;) pause();
  }
  if (argc != 5) return 2;
  puts("armed");
  fflush(stdout);
  reach_sockets(argv[1], argv[3], argv[4]);
  reach_process((pid_t)atoi(argv[2]));
  reach_objects();
  reach_files(argv[1]);
  return 0;
}
