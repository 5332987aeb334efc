// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// No attack: it tells how it is confined, line by line, so that two runs can be compared.
// What each line says is the same in every run that is confined in the same way.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

static void tell(const char* what, long result) {
  printf("%s: %s\n", what, result < 0 ? strerrorname_np(errno) : "OK");
}

static void tell_file(const char* path) {
  char text[512];
  const int fd = open(path, O_RDONLY);
  const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  if (n < 0) return tell(path, -1);
  text[n] = '\0';
  printf("%s: %s%s", path, text, n > 0 && text[n - 1] == '\n' ? "" : "\n");
  close(fd);
}

static void tell_stdin(void) {
  static unsigned char chunk[4096];
  unsigned long sum = 0;
  long size = 0;
  ssize_t n = 0;
  while ((n = read(0, chunk, sizeof chunk)) > 0) {
    size += n;
    for (ssize_t i = 0; i < n; ++i) sum = sum * 31 + chunk[i];
  }
  printf("stdin has %ld bytes, sum %lx%s\n", size, sum, n < 0 ? ", and an error" : "");
}

static void tell_directory(const char* path) {
  struct dirent** entries = NULL;
  const int count = scandir(path, &entries, NULL, alphasort);
  printf("%s holds:", path);
  for (int i = 0; i < count; ++i) {
    const int is_number = entries[i]->d_name[0] >= '0' && entries[i]->d_name[0] <= '9';
    if (strcmp(path, "/proc") != 0 || is_number) printf(" %s", entries[i]->d_name);
  }
  puts(count < 0 ? strerrorname_np(errno) : "");
}

static void tell_space(const char* path) {
  struct statfs space = {0};
  if (statfs(path, &space) < 0) return tell(path, -1);
  printf("%s has %ld blocks, %ld inodes, flags %lx\n", path, (long)space.f_blocks,
         (long)space.f_files, (unsigned long)space.f_flags);
}

static void tell_itself(void) {
  char name[64] = "";
  char directory[256] = "";
  int death_signal = 0;
  gethostname(name, sizeof name);
  getcwd(directory, sizeof directory);
  prctl(PR_GET_PDEATHSIG, &death_signal);
  printf("ids %u %u %u %u, host '%s', in '%s', pid %d, session %d, group %d\n", getuid(), geteuid(),
         getgid(), getegid(), name, directory, getpid(), getsid(0), getpgrp());
  printf("death signal %d, securebits %d, no new privileges %d, seccomp %d, processors %d\n",
         death_signal, prctl(PR_GET_SECUREBITS), prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0),
         prctl(PR_GET_SECCOMP), (int)sysconf(_SC_NPROCESSORS_ONLN));
}

static void tell_network(void) {
  struct if_nameindex* interfaces = if_nameindex();
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  for (struct if_nameindex* it = interfaces; it != NULL && it->if_index != 0; ++it) {
    struct ifreq request = {0};
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", it->if_name);
    ioctl(fd, SIOCGIFFLAGS, &request);
    printf("interface %s is %s\n", it->if_name, (request.ifr_flags & IFF_UP) != 0 ? "up" : "down");
  }
  close(fd);
}

static void tell_what_is_refused(void) {
  tell("write on /", open("/made", O_CREAT | O_WRONLY, 0600));
  tell("write on /usr", open("/usr/made", O_CREAT | O_WRONLY, 0600));
  tell("write the hostname", open("/proc/sys/kernel/hostname", O_WRONLY));
  tell("write in /box", open("/box/made", O_CREAT | O_WRONLY, 0600));
  tell("make a device", mknod("/box/device", S_IFCHR | 0600, 0x0103));
  tell("trace", ptrace(PTRACE_TRACEME, 0, 0, 0));
  tell("unshare", unshare(CLONE_NEWUSER));
  tell("mount", syscall(SYS_mount, "none", "/tmp", "tmpfs", 0, NULL));
  tell("clone3", syscall(SYS_clone3, NULL, 0));
  // Its user is ours: from ABI 6 on Landlock alone stands between.
  const long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (abi >= 6) tell("signal to init", kill(1, 0));
  tell("read init's environment", open("/proc/1/environ", O_RDONLY));
}

int main(void) {
  tell_itself();
  tell_network();
  tell_what_is_refused();
  for (const char* const* path =
           (const char* const[]){"/", "/dev", "/proc", "/box", "/proc/self/fd", NULL};
       *path != NULL; ++path) {
    tell_directory(*path);
  }
  tell_space("/");
  tell_space("/box");
  tell_space("/tmp");
  tell_file("/proc/sys/user/max_user_namespaces");
  tell_file("/proc/kcore");
  tell_file("/proc/self/cgroup");
  tell_file("/proc/self/oom_score_adj");
  tell_stdin();
  puts("complete");
  return 7;
}
