// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: talk to a host process through the abstract socket named argv[1], which
// no mount namespace hides.
// Expected: refused, since the network namespace is another one.
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  puts("armed");
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path + 1, argv[1], sizeof address.sun_path - 2);
  const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(argv[1]));
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  const int result = connect(fd, (struct sockaddr*)&address, size);
  puts(result == 0 ? "connected" : strerrorname_np(errno));
  return 0;
}
