// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/proxy_connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "sandbox/sys/retry.h"

namespace wardcase::supervisor {
namespace {

constexpr std::size_t kChunk = 64 << 10;
constexpr int kChunksATurn = 8;
constexpr std::chrono::seconds kIdle{60};
constexpr std::chrono::seconds kIdleCheck{15};
constexpr std::string_view kEstablished = "HTTP/1.1 200 Connection established\r\n\r\n";

ssize_t receive(int fd, char* bytes, std::size_t size) {
  return sys::retry_eintr([&] { return ::recv(fd, bytes, size, MSG_DONTWAIT); });
}

ssize_t send_some(int fd, std::string_view bytes) {
  return sys::retry_eintr(
      [&] { return ::send(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL); });
}

}  // namespace

ProxyConnection::ProxyConnection(EventLoop& loop, HostLookup& lookup, sys::UniqueFd client,
                                 Judge judge, Ended ended)
    : loop_(loop), lookup_(lookup), judge_(std::move(judge)), ended_(std::move(ended)) {
  client_.fd = std::move(client);
}

ProxyConnection::~ProxyConnection() {
  *is_alive_ = false;
  phase_ = Phase::over;
  loop_.cancel(timer_);
  for (End* one : {&client_, &server_}) {
    if (one->fd.is_open()) loop_.forget(one->fd.get());
  }
}

void ProxyConnection::start() {
  moved_at_ = Clock::now();
  check_idle();
  const auto watched =
      loop_.watch(client_.fd.get(), EPOLLIN, [this](std::uint32_t events) { on_client(events); });
  if (!watched) return end();
  client_.events = EPOLLIN;
}

void ProxyConnection::on_client(std::uint32_t events) {
  if (phase_ == Phase::head) return read_head();
  if (phase_ == Phase::relaying) return on_end(client_, events);
  // It went while its server was looked for.
  if ((events & (EPOLLHUP | EPOLLERR)) != 0) end();
}

void ProxyConnection::read_head() {
  std::array<char, 4096> chunk;
  const ssize_t got = receive(client_.fd.get(), chunk.data(), chunk.size());
  if (got < 0 && errno == EAGAIN) return;
  if (got <= 0) return end();
  moved_at_ = Clock::now();
  to_server_.pending.append(chunk.data(), static_cast<std::size_t>(got));
  const std::size_t size = end_of_head(to_server_.pending);
  if (size <= kLongestProxyHead) return on_head(size);  // npos is not
  if (to_server_.pending.size() > kLongestProxyHead) refuse(431, "the head is too long");
}

void ProxyConnection::on_head(std::size_t size) {
  auto parsed = parse_proxy_request(std::string_view(to_server_.pending).substr(0, size));
  if (!parsed) return refuse(400, parsed.error().what);
  request_ = *std::move(parsed);
  if (const std::string why = judge_(request_.address); !why.empty()) return refuse(403, why);
  to_server_.pending.replace(0, size, request_.head);
  phase_ = Phase::finding;
  watch(client_, 0);
  lookup_.find(request_.address.host, [this, alive = is_alive_](const auto& addresses) {
    if (*alive && phase_ == Phase::finding) on_addresses(addresses);
  });
}

void ProxyConnection::on_addresses(const sys::Result<std::vector<std::string>>& addresses) {
  if (!addresses) return refuse(502, addresses.error().message());
  for (auto each = addresses->rbegin(); each != addresses->rend(); ++each) {
    for (const SocketAddress& address : numeric_address(*each, request_.address.port)) {
      addresses_.push_back(address);
    }
  }
  phase_ = Phase::connecting;
  connect_next();
}

// The last one first: they were put in backwards.
void ProxyConnection::connect_next() {
  if (server_.fd.is_open()) loop_.forget(server_.fd.get());
  server_.fd.reset();
  while (!addresses_.empty()) {
    const SocketAddress address = addresses_.back();
    addresses_.pop_back();
    server_.fd.reset(
        ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!server_.fd.is_open()) continue;
    const int connected = ::connect(
        server_.fd.get(), reinterpret_cast<const sockaddr*>(&address.storage), address.size);
    if (connected < 0 && errno != EINPROGRESS) continue;
    const auto watched = loop_.watch(server_.fd.get(), EPOLLOUT, [this](std::uint32_t events) {
      if (phase_ == Phase::connecting) return on_connected();
      on_end(server_, events);
    });
    if (!watched) continue;
    server_.events = EPOLLOUT;
    return;
  }
  refuse(502, "'" + request_.address.host + "' can't be connected");
}

void ProxyConnection::on_connected() {
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(server_.fd.get(), SOL_SOCKET, SO_ERROR, &error, &size) < 0 || error != 0) {
    return connect_next();
  }
  begin_relay();
}

void ProxyConnection::begin_relay() {
  phase_ = Phase::relaying;
  if (request_.is_tunnel) to_client_.pending = kEstablished;
  moved_at_ = Clock::now();
  relay();
}

void ProxyConnection::relay() {
  if (!move(to_server_, client_.fd.get(), server_.fd.get()) ||
      !move(to_client_, server_.fd.get(), client_.fd.get())) {
    return end();
  }
  if (to_server_.is_shut && to_client_.is_shut) return end();
  // Once its server has said all, nothing that a client could add would be heard.
  if (to_client_.is_shut && !request_.is_tunnel) return end();
  watch_ends();
}

// False: one end is broken.
bool ProxyConnection::move(Way& way, int from, int to) {
  for (int i = 0; i < kChunksATurn; ++i) {
    if (way.pending.empty() && !way.is_ended) {
      way.pending.resize(kChunk);
      const ssize_t got = receive(from, way.pending.data(), kChunk);
      const int error = got < 0 ? errno : 0;
      way.pending.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
      if (error == EAGAIN) return true;
      if (error != 0) return false;
      way.is_ended = got == 0;
      moved_at_ = Clock::now();
    }
    if (!way.pending.empty()) {
      const ssize_t sent = send_some(to, way.pending);
      if (sent < 0) return errno == EAGAIN;
      way.pending.erase(0, static_cast<std::size_t>(sent));
      moved_at_ = Clock::now();
      if (!way.pending.empty()) return true;
    }
    if (way.is_ended && !way.is_shut) {
      (void)::shutdown(to, SHUT_WR);
      way.is_shut = true;
    }
    if (way.is_shut) return true;
  }
  return true;
}

void ProxyConnection::watch_ends() {
  const auto wanted = [](const Way& out, const Way& in) {
    std::uint32_t events = 0;
    if (out.pending.empty() && !out.is_ended) events |= EPOLLIN;
    if (!in.pending.empty()) events |= EPOLLOUT;
    return events;
  };
  watch(client_, wanted(to_server_, to_client_));
  watch(server_, wanted(to_client_, to_server_));
  // What is gone tells nothing any more, but may have something left to read.
  const bool is_unread = (server_.is_gone && to_client_.pending.empty() && !to_client_.is_ended) ||
                         (client_.is_gone && to_server_.pending.empty() && !to_server_.is_ended);
  if (!is_unread) return;
  loop_.post([this, alive = is_alive_] {
    if (*alive && phase_ == Phase::relaying) relay();
  });
}

void ProxyConnection::watch(End& one, std::uint32_t events) {
  if (one.is_gone || one.events == events) return;
  if (loop_.change(one.fd.get(), events)) one.events = events;
}

void ProxyConnection::on_end(End& one, std::uint32_t events) {
  if ((events & (EPOLLHUP | EPOLLERR)) != 0) {
    loop_.forget(one.fd.get());
    one.is_gone = true;
  }
  relay();
}

// One attempt: whoever asked for what he may not have is owed no patience.
void ProxyConnection::refuse(int status, const std::string& why) {
  const std::string text = "wardcase: " + why + "\n";
  const std::string answer =
      "HTTP/1.1 " + std::to_string(status) + " Refused\r\nContent-Type: text/plain\r\n" +
      "Content-Length: " + std::to_string(text.size()) + "\r\nConnection: close\r\n\r\n" + text;
  (void)send_some(client_.fd.get(), answer);
  (void)::shutdown(client_.fd.get(), SHUT_WR);
  end();
}

void ProxyConnection::check_idle() {
  timer_ = 0;
  if (Clock::now() - moved_at_ >= kIdle) return end();
  timer_ = loop_.at(Clock::now() + kIdleCheck, [this] { check_idle(); });
}

void ProxyConnection::end() {
  if (phase_ == Phase::over) return;
  phase_ = Phase::over;
  loop_.cancel(std::exchange(timer_, 0));
  for (End* one : {&client_, &server_}) {
    if (one->fd.is_open()) loop_.forget(one->fd.get());
    one->fd.reset();
  }
  ended_();
}

}  // namespace wardcase::supervisor
