// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/install_proxy.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "tests/unit/supervisor/loop.h"

namespace wardcase::supervisor {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMost = 64;
constexpr std::size_t kAll = std::string::npos;
constexpr int kPatience = 1000;  // turns of ten milliseconds

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

// A port of this host on which a test listens.
class Listener {
 public:
  Listener() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(fd_.get(), generic, size), 0);
    EXPECT_EQ(::listen(fd_.get(), 128), 0);
    EXPECT_EQ(::getsockname(fd_.get(), generic, &size), 0);
    port_ = ntohs(address.sin_port);
  }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] sys::UniqueFd connect() const {
    sys::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = loopback(port_);
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return fd;
  }
  [[nodiscard]] sys::UniqueFd accept() const {
    pollfd ready = {fd_.get(), POLLIN, 0};
    (void)::poll(&ready, 1, 0);
    return sys::UniqueFd(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }

 private:
  sys::UniqueFd fd_;
  std::uint16_t port_ = 0;
};

void hand_over(int channel, int fd) {
  char byte = 0;
  iovec data = {&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control = {};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  EXPECT_EQ(::sendmsg(channel, &message, 0), 1);
}

class InstallProxies : public testing::Test {
 protected:
  InstallProxies()
      : loop_(test::make_loop()), proxy_(loop_, {{"127.0.0.1", index_.port(), false}}) {
    auto opened = proxy_.open();
    EXPECT_TRUE(opened);
    channel_ = *std::move(opened);
  }

  void turn(std::chrono::milliseconds time = 10ms) {
    (void)loop_.at(Clock::now() + time, [this] { loop_.stop(); });
    EXPECT_TRUE(loop_.run());
  }
  // A client's end of a connection that the proxy was given.
  [[nodiscard]] sys::UniqueFd client() const {
    sys::UniqueFd mine = box_.connect();
    const sys::UniqueFd theirs = box_.accept();
    EXPECT_TRUE(theirs.is_open());
    hand_over(channel_.get(), theirs.get());
    return mine;
  }
  // What came, once there is something, and that much of it.
  [[nodiscard]] std::string received(int fd, std::size_t size) {
    std::string text;
    for (int i = 0; i < kPatience && text.empty(); ++i) {
      turn();
      text = received_now(fd);
    }
    return text.substr(0, size);
  }
  [[nodiscard]] sys::UniqueFd accepted(const Listener& listener) {
    sys::UniqueFd fd;
    for (int i = 0; i < kPatience && !fd.is_open(); ++i) {
      turn();
      fd = listener.accept();
    }
    return fd;
  }
  [[nodiscard]] static bool is_ended(int fd) {
    std::array<char, 1> none;
    return ::recv(fd, none.data(), none.size(), MSG_DONTWAIT) == 0;
  }
  [[nodiscard]] static std::string received_now(int fd) {
    std::array<char, 4096> bytes;
    const ssize_t got = ::recv(fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
    return got > 0 ? std::string(bytes.data(), static_cast<std::size_t>(got)) : "";
  }
  static void send(int fd, std::string_view text) {
    EXPECT_EQ(::send(fd, text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  [[nodiscard]] std::string connect_line() const {
    return "CONNECT 127.0.0.1:" + std::to_string(index_.port()) + " HTTP/1.1\r\n\r\n";
  }

  Listener index_;
  Listener box_;
  EventLoop loop_;
  InstallProxy proxy_;
  sys::UniqueFd channel_;
};

TEST_F(InstallProxies, RelayBothWaysToWhatIsAllowed) {
  const sys::UniqueFd client = this->client();
  send(client.get(), connect_line() + "early");
  const sys::UniqueFd server = accepted(index_);
  ASSERT_TRUE(server.is_open());
  EXPECT_EQ(received(client.get(), kAll), "HTTP/1.1 200 Connection established\r\n\r\n");
  EXPECT_EQ(received(server.get(), kAll), "early");
  send(server.get(), "answer");
  EXPECT_EQ(received(client.get(), kAll), "answer");
  EXPECT_EQ(::shutdown(server.get(), SHUT_WR), 0);
  for (int i = 0; i < kPatience && !is_ended(client.get()); ++i) turn();
  EXPECT_TRUE(is_ended(client.get()));
}

TEST_F(InstallProxies, RefuseEveryOtherHostAndPortByName) {
  const Listener other;
  for (const std::string& authority :
       {"127.0.0.1:" + std::to_string(other.port()), "localhost:" + std::to_string(index_.port()),
        std::string("127.1:") + std::to_string(index_.port()), std::string("example.org:443")}) {
    const sys::UniqueFd client = this->client();
    send(client.get(), "CONNECT " + authority + " HTTP/1.1\r\n\r\n");
    EXPECT_EQ(received(client.get(), 12), "HTTP/1.1 403") << authority;
  }
  EXPECT_EQ(proxy_.refused().size(), 4U);
  EXPECT_FALSE(other.accept().is_open());
}

TEST_F(InstallProxies, AHeadThatNeverEndsIsRefused) {
  const sys::UniqueFd client = this->client();
  send(client.get(), "GET http://a/ HTTP/1.1\r\nX: " + std::string(kLongestProxyHead, 'x'));
  EXPECT_EQ(received(client.get(), 12), "HTTP/1.1 431");
}

TEST_F(InstallProxies, WhatIsNoConnectionIsDropped) {
  std::array<int, 2> ends = {};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const sys::UniqueFd from(ends[0]);
  const sys::UniqueFd to(ends[1]);
  hand_over(channel_.get(), from.get());
  const sys::UniqueFd file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  hand_over(channel_.get(), file.get());
  ASSERT_EQ(::send(channel_.get(), "no descriptor", 13, 0), 13);
  turn();
  const sys::UniqueFd client = this->client();  // and the next one is served
  send(client.get(), connect_line());
  EXPECT_EQ(received(client.get(), 12), "HTTP/1.1 200");
}

TEST_F(InstallProxies, ABlockingSocketHoldsNothingUp) {
  const sys::UniqueFd slow = client();  // says nothing, and blocks who reads from it
  const sys::UniqueFd quick = client();
  send(quick.get(), connect_line());
  EXPECT_EQ(received(quick.get(), 12), "HTTP/1.1 200");
}

TEST_F(InstallProxies, HoldABoundedNumberOfClients) {
  std::vector<sys::UniqueFd> clients;
  for (std::size_t i = 0; i < kMost + 8; ++i) {
    clients.push_back(client());
    if (i % 8 == 0) turn(10ms);
  }
  turn();
  const auto ended = [&] {
    return std::ranges::count_if(clients, [](const auto& one) { return is_ended(one.get()); });
  };
  for (int i = 0; i < kPatience && ended() < 8; ++i) turn();
  EXPECT_EQ(ended(), 8);
  clients.clear();  // they go, and others come in
  turn();
  const sys::UniqueFd late = client();
  send(late.get(), connect_line());
  EXPECT_EQ(received(late.get(), 12), "HTTP/1.1 200");
}

TEST_F(InstallProxies, GoWithTheirBox) {
  const sys::UniqueFd client = this->client();
  channel_.reset();
  turn();
  send(client.get(), connect_line());  // what was handed over still works
  EXPECT_EQ(received(client.get(), 12), "HTTP/1.1 200");
}

}  // namespace
}  // namespace wardcase::supervisor
