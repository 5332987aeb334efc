// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/install_proxy.h"

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "sandbox/sys/retry.h"

namespace wardcase::supervisor {
namespace {

constexpr std::size_t kMostClients = 64;  // installers open a dozen or two
constexpr std::size_t kMostRefused = 8;
constexpr int kMessagesATurn = 16;

// The descriptor of one message; closed: it had none, or something else. -1, with errno: nothing
// is there, or the box is gone.
int receive_descriptor(int channel, sys::UniqueFd& connection) {
  char byte = 0;
  iovec data = {&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control = {};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = sys::retry_eintr(
      [&] { return ::recvmsg(channel, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC); });
  if (got == 0) errno = EPIPE;
  if (got <= 0) return -1;
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS &&
      header->cmsg_len == CMSG_LEN(sizeof(int))) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
    connection.reset(fd);
  }
  return 0;
}

// A box could send us anything that can be opened in it.
bool is_tcp(int fd) {
  const auto option = [&](int name) {
    int value = -1;
    socklen_t size = sizeof value;
    return ::getsockopt(fd, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
  };
  return option(SO_DOMAIN) == AF_INET && option(SO_TYPE) == SOCK_STREAM &&
         option(SO_PROTOCOL) == IPPROTO_TCP && option(SO_ACCEPTCONN) == 0;
}

}  // namespace

std::string authority_of(const policies::WebAddress& address) {
  const bool is_six = address.host.find(':') != std::string::npos;
  return (is_six ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

InstallProxy::~InstallProxy() {
  *is_alive_ = false;
  if (channel_.is_open()) loop_.forget(channel_.get());
}

sys::Result<sys::UniqueFd> InstallProxy::open() {
  std::array<int, 2> ends = {};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) < 0) {
    return tl::unexpected(sys::errno_error("make the proxy's channel"));
  }
  channel_.reset(ends[0]);
  sys::UniqueFd theirs(ends[1]);
  auto watched = loop_.watch(channel_.get(), EPOLLIN, [this](std::uint32_t) { on_channel(); });
  if (!watched) return tl::unexpected(watched.error());
  return theirs;
}

void InstallProxy::on_channel() {
  for (int i = 0; i < kMessagesATurn; ++i) {
    sys::UniqueFd connection;
    if (receive_descriptor(channel_.get(), connection) < 0) {
      if (errno == EAGAIN) return;
      loop_.forget(channel_.get());
      channel_.reset();
      return;
    }
    if (connection.is_open() && is_tcp(connection.get())) take(std::move(connection));
  }
}

// One too many is closed, which its client takes for a failure in passing and tries again.
void InstallProxy::take(sys::UniqueFd connection) {
  if (clients_.size() >= kMostClients) return;
  clients_.push_back(std::make_unique<Client>());
  Client* const client = clients_.back().get();
  client->connection = std::make_unique<ProxyConnection>(
      loop_, lookup_, std::move(connection),
      [this](const policies::WebAddress& address) { return judge(address); },
      [this, client] {
        client->is_over = true;
        // Its own call may be under way.
        loop_.post([this, alive = is_alive_] {
          if (*alive) drop_ended();
        });
      });
  client->connection->start();
}

std::string InstallProxy::judge(const policies::WebAddress& address) {
  const auto is_same = [&](const policies::WebAddress& one) {
    return one.host == address.host && one.port == address.port;
  };
  if (std::ranges::any_of(allowed_, is_same)) return "";
  const std::string name = authority_of(address);
  if (refused_.size() < kMostRefused && std::ranges::find(refused_, name) == refused_.end()) {
    refused_.push_back(name);
  }
  return name + " is not in network.install of the policy";
}

void InstallProxy::drop_ended() {
  std::erase_if(clients_, [](const std::unique_ptr<Client>& client) { return client->is_over; });
}

}  // namespace wardcase::supervisor
