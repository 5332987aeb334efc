// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/received_files.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cstring>

#include "sandbox/sys/retry.h"

namespace wardcase::supervisor {

// The kernel closes what the buffer for them does not hold.
ssize_t ReceivedFiles::receive(int socket, std::span<char> bytes) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMost * sizeof(int))> control;
  iovec place = {bytes.data(), bytes.size()};
  msghdr message = {};
  message.msg_iov = &place;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = sys::retry_eintr(
      [&] { return ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC); });
  if (got < 0) return got;
  for (cmsghdr* each = CMSG_FIRSTHDR(&message); each != nullptr;
       each = CMSG_NXTHDR(&message, each)) {
    if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (each->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(each) + i * sizeof fd, sizeof fd);
      files_.emplace_back(fd);
    }
  }
  are_too_many_ = are_too_many_ || (message.msg_flags & MSG_CTRUNC) != 0 || files_.size() > kMost;
  if (are_too_many_) close();
  return got;
}

}  // namespace wardcase::supervisor
