// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/sessions/agent_link.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "sandbox/sys/retry.h"

namespace wardcase::supervisor {

namespace {

constexpr std::size_t kMostSaid = 256;  // its messages are heads of fixed size
// For interpreters that hear of signals by a thread of their own, as Node.js does.
constexpr std::chrono::milliseconds kSettling{50};

}  // namespace

sys::Result<sys::UniqueFd> AgentLink::open() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
    return tl::unexpected(sys::errno_error("make a socket pair"));
  }
  sys::UniqueFd ours(ends[0]);
  sys::UniqueFd theirs(ends[1]);
  if (::fcntl(ours.get(), F_SETFL, O_NONBLOCK) < 0) {
    return tl::unexpected(sys::errno_error("make a socket non-blocking"));
  }
  auto watched = loop_.watch(ours.get(), EPOLLIN, [this](std::uint32_t) { on_readable(); });
  if (!watched) return tl::unexpected(watched.error());
  socket_ = std::move(ours);
  return theirs;
}

sys::Status AgentLink::start(const agent::StartRequest& request,
                             const std::array<int, agent::kStartDescriptors>& descriptors) {
  const auto message = agent::encode(request);
  if (!message) return tl::unexpected(message.error());
  return agent::send_message(socket_.get(), *message, descriptors);
}

sys::Status AgentLink::signal(std::uint32_t id, int signo, agent::Whom whom) {
  const agent::SignalHead head = {agent::Kind::signal, id, signo, whom};
  auto sent = agent::send_message(socket_.get(), agent::bytes_of(head));
  if (sent && whom != agent::Whom::everyone) ++signals_under_way_;
  return sent;
}

void AgentLink::close() {
  loop_.cancel(std::exchange(settling_, 0));
  if (!socket_.is_open()) return;
  loop_.forget(socket_.get());
  socket_.reset();
}

void AgentLink::on_readable() {
  std::array<char, kMostSaid> message;
  const ssize_t n = sys::retry_eintr(
      [&] { return ::recv(socket_.get(), message.data(), message.size(), MSG_DONTWAIT); });
  if (n < 0 && errno == EAGAIN) return;
  if (n < 0) return fail(sys::errno_error("hear the agent").message());
  if (n == 0) return fail("the agent has gone");
  on_message(agent::decode({message.data(), static_cast<std::size_t>(n)}));
}

void AgentLink::on_message(const agent::FromAgent& message) {
  switch (message.kind) {
    case agent::Kind::started:
      return events_.on_started(message.started);
    case agent::Kind::ended:
      return events_.on_ended(message.ended);
    case agent::Kind::signalled:
      return on_signalled();
    case agent::Kind::everyone_gone:
      return events_.on_everyone_gone(message.everyone_gone);
    default:
      return fail("the agent sent what makes no sense");
  }
}

void AgentLink::on_signalled() {
  if (signals_under_way_ == 0 || --signals_under_way_ > 0) return;
  loop_.cancel(settling_);
  settling_ = loop_.at(Clock::now() + kSettling, [this] {
    settling_ = 0;
    events_.on_signalled();
  });
}

void AgentLink::fail(const std::string& why) {
  close();
  events_.on_closed(why);
}

}  // namespace wardcase::supervisor
