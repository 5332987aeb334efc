// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/agent/agent_messages.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "sandbox/sys/retry.h"

namespace wardcase::agent {

namespace {

bool append(std::vector<char>& message, const std::string& text) {
  if (text.find('\0') != std::string::npos) return false;
  message.insert(message.end(), text.c_str(), text.c_str() + text.size() + 1);
  return true;
}

bool append_all(std::vector<char>& message, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    if (!append(message, text)) return false;
  }
  return true;
}

template <typename Head>
bool take(std::span<const char> message, Head& head) {
  if (message.size() != sizeof head) return false;
  std::memcpy(&head, message.data(), sizeof head);
  return true;
}

}  // namespace

sys::Result<std::vector<char>> encode(const StartRequest& request) {
  const StartHead head = {.kind = Kind::start,
                          .id = request.id,
                          .argc = static_cast<std::uint32_t>(request.arguments.size()),
                          .envc = static_cast<std::uint32_t>(request.environment.size())};
  const auto start = bytes_of(head);
  std::vector<char> message(start.begin(), start.end());
  if (request.arguments.empty() || !append(message, request.directory) ||
      !append_all(message, request.arguments) || !append_all(message, request.environment)) {
    return tl::unexpected(sys::Error{EINVAL, "tell the box's agent to start a program"});
  }
  if (message.size() > kMaxMessage) {
    return tl::unexpected(sys::Error{E2BIG, "tell the box's agent to start a program"});
  }
  return message;
}

sys::Status send_message(int socket, std::span<const char> message,
                         std::span<const int> descriptors) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kStartDescriptors * sizeof(int))> room = {};
  WARDCASE_CHECK(descriptors.size() <= kStartDescriptors);
  iovec part = {const_cast<char*>(message.data()), message.size()};
  msghdr whole = {};
  whole.msg_iov = &part;
  whole.msg_iovlen = 1;
  if (!descriptors.empty()) {
    whole.msg_control = room.data();
    whole.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* attached = CMSG_FIRSTHDR(&whole);
    attached->cmsg_level = SOL_SOCKET;
    attached->cmsg_type = SCM_RIGHTS;
    attached->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(attached), descriptors.data(), descriptors.size_bytes());
  }
  if (sys::retry_eintr([&] { return ::sendmsg(socket, &whole, MSG_NOSIGNAL); }) < 0) {
    return tl::unexpected(sys::errno_error("send a message to the box's agent"));
  }
  return {};
}

FromAgent decode(std::span<const char> message) {
  FromAgent from;
  Kind kind = {};
  if (message.size() < sizeof kind) return from;
  std::memcpy(&kind, message.data(), sizeof kind);
  const bool is_whole = (kind == Kind::started && take(message, from.started)) ||
                        (kind == Kind::ended && take(message, from.ended)) ||
                        (kind == Kind::everyone_gone && take(message, from.everyone_gone)) ||
                        (kind == Kind::signalled && take(message, from.signalled));
  if (is_whole) from.kind = kind;
  return from;
}

}  // namespace wardcase::agent
