// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/agent/datagram.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

#include "sandbox/sys/retry.h"

namespace wardcase::agent {

namespace {

// One more than is ever wanted shows that there were too many.
constexpr std::size_t kRoom = kStartDescriptors + 1;

void take_descriptors(msghdr& whole, Received& received) noexcept {
  for (cmsghdr* head = CMSG_FIRSTHDR(&whole); head != nullptr; head = CMSG_NXTHDR(&whole, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(head) + i * sizeof fd, sizeof fd);
      if (received.descriptor_count < received.descriptors.size()) {
        received.descriptors[received.descriptor_count++] = fd;
      } else {
        (void)::close(fd);
        received.is_cut = true;
      }
    }
  }
}

}  // namespace

Received receive_datagram(std::span<char> buffer) noexcept {
  Received received;
  alignas(cmsghdr) char room[CMSG_SPACE(kRoom * sizeof(int))] = {};
  iovec part = {buffer.data(), buffer.size()};
  msghdr whole = {};
  whole.msg_iov = &part;
  whole.msg_iovlen = 1;
  whole.msg_control = room;
  whole.msg_controllen = sizeof room;
  const ssize_t size =
      sys::retry_eintr([&]() noexcept { return ::recvmsg(kControl, &whole, MSG_CMSG_CLOEXEC); });
  if (size <= 0) return received;
  received.message = buffer.first(static_cast<std::size_t>(size));
  received.is_cut = (whole.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
  take_descriptors(whole, received);
  return received;
}

bool send_datagram(std::span<const char> message) noexcept {
  return sys::retry_eintr([&]() noexcept {
           return ::send(kControl, message.data(), message.size(), MSG_NOSIGNAL);
         }) >= 0;
}

bool send_descriptor(int fd) noexcept {
  char byte = 0;
  iovec part = {&byte, 1};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof fd)] = {};
  msghdr whole = {};
  whole.msg_iov = &part;
  whole.msg_iovlen = 1;
  whole.msg_control = room;
  whole.msg_controllen = sizeof room;
  cmsghdr* head = CMSG_FIRSTHDR(&whole);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof fd);
  std::memcpy(CMSG_DATA(head), &fd, sizeof fd);
  return sys::retry_eintr([&]() noexcept { return ::sendmsg(kControl, &whole, MSG_NOSIGNAL); }) >=
         0;
}

}  // namespace wardcase::agent
