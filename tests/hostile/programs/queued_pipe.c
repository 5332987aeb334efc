// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: send stdout through a socket pair to oneself, and leave it in the
// queue: the pipe has a holder that is no process's descriptor. A background
// child keeps the sockets alive for argv[1] milliseconds.
// Expected: the run ends with its first process.
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0) return 1;
  char byte = 'x';
  struct iovec text = {&byte, 1};
  union {
    struct cmsghdr align;
    char room[CMSG_SPACE(sizeof(int))];
  } control;
  struct msghdr message = {.msg_iov = &text,
                           .msg_iovlen = 1,
                           .msg_control = control.room,
                           .msg_controllen = sizeof control.room};
  struct cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  const int out = 1;
  memcpy(CMSG_DATA(header), &out, sizeof out);
  if (sendmsg(ends[0], &message, 0) != 1) return 1;
  if (fork() == 0) {
    close(1);
    close(2);
    usleep((useconds_t)atoi(argv[1]) * 1000);
    _exit(0);
  }
  return write(1, "armed\n", 6) == 6 ? 0 : 1;
}
