// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/setup_channel.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "sandbox/sys/retry.h"

namespace wardcase::supervisor {
namespace {

void take_descriptor(msghdr& header, sys::UniqueFd& descriptor) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(part), sizeof fd);
    descriptor.reset(fd);
  }
}

}  // namespace

ChannelState receive_message(int socket, ReceivedMessage& received) {
  iovec part = {&received.message, sizeof received.message};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  const auto receive = [&]() noexcept {
    return sys::retry_eintr(
        [&]() noexcept { return ::recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC); });
  };
  ssize_t size = receive();
  // A peer that died without reading our "go" leaves this error once, before
  // what it had said.
  if (size < 0 && errno == ECONNRESET) size = receive();
  if (size < 0) {
    received.error = errno;
    return errno == EAGAIN || errno == EWOULDBLOCK ? ChannelState::nothing_yet
                                                   : ChannelState::broken;
  }
  take_descriptor(header, received.descriptor);
  if ((header.msg_flags & MSG_CTRUNC) != 0) {  // there is room for it: our table of files is full
    received.error = EMFILE;
    return ChannelState::broken;
  }
  if (size != static_cast<ssize_t>(sizeof received.message)) return ChannelState::closed;
  return ChannelState::message;
}

}  // namespace wardcase::supervisor
