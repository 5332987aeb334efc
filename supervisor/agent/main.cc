// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

#include "supervisor/agent/agent_protocol.h"
#include "supervisor/agent/proxy.h"
#include "supervisor/agent/workers.h"

// wardcase-agent: the first program of a box that holds a session, and, as `wardcase-agent proxy
// -- COMMAND`, of one that installs. wardcase starts it, with its socket as descriptor 3.
namespace {

constexpr int kWrongUse = 125;

int complain(const char* why) {
  (void)!::write(STDERR_FILENO, why, std::strlen(why));
  return kWrongUse;
}

bool has_control() {
  int type = 0;
  socklen_t size = sizeof type;
  return ::getsockopt(wardcase::agent::kControl, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
         type == SOCK_SEQPACKET;
}

}  // namespace

int main(int argc, char** argv) {
  if (!has_control()) {
    return complain(
        "wardcase-agent: is started by wardcase, in its boxes (descriptor 3: no socket)\n");
  }
  // What runs in the box under the same user id may not trace it, nor take its descriptors.
  (void)::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  (void)::fcntl(wardcase::agent::kControl, F_SETFD, FD_CLOEXEC);
  for (int fd = 0; fd < wardcase::agent::kControl; ++fd) {
    // What is closed would be taken by what is opened next.
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) != fd) return kWrongUse;
  }
  if (argc == 1) wardcase::agent::serve_workers();
  if (argc > 3 && std::strcmp(argv[1], "proxy") == 0 && std::strcmp(argv[2], "--") == 0) {
    ::_exit(wardcase::agent::run_with_proxy(argv + 3));
  }
  return complain("usage: wardcase-agent [proxy -- COMMAND [ARGUMENT]...]\n");
}
