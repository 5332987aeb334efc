// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/server.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "supervisor/server/problem.h"

namespace wardcase::supervisor {

namespace {

constexpr std::chrono::milliseconds kPause{100};
// Those that are told that there is no room have room of their own; beyond it nobody is told.
constexpr std::size_t kRefusedAtOnce = 64;

}  // namespace

Server::Server(EventLoop& loop, const Rules& rules, std::vector<Listener> listeners, Api& api,
               RunQueue& queue, SessionRegistry& sessions)
    : loop_(loop),
      rules_(rules),
      listeners_(std::move(listeners)),
      api_(api),
      queue_(queue),
      sessions_(sessions) {}

Server::~Server() {
  loop_.cancel(pause_);
  loop_.cancel(drain_end_);
  for (const Listener& listener : listeners_) loop_.forget(listener.fd());
}

sys::Status Server::open() {
  for (Listener& listener : listeners_) {
    auto watched =
        loop_.watch(listener.fd(), EPOLLIN, [&](std::uint32_t) { accept_one(listener); });
    if (!watched) return watched;
  }
  return {};
}

// One a wake-up: a flood of clients must not hold the loop away from the runs.
void Server::accept_one(Listener& listener) {
  sys::UniqueFd socket(::accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket.is_open()) {
    const bool is_short = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
    if (is_short) pause_accepting();
    return;
  }
  const bool has_room = make_room();
  if (!has_room && clients_.size() >= rules_.connections + kRefusedAtOnce) return;
  ConnectionOwner& owner = *this;
  auto made = std::make_unique<Connection>(loop_, std::move(socket), listener.transport(),
                                           rules_.connection, owner);
  Connection& connection = *made;
  clients_[&connection] = std::move(made);
  if (!connection.open()) return connection.close();
  if (has_room) return;
  connection.refuse(to_response(
      {503, "too_many_connections", "too many clients are connected", "", kRetrySeconds}));
}

// Whoever has been idle for longest makes room: clients that keep connections and say
// nothing must not keep others out.
bool Server::make_room() {
  if (clients_.size() < rules_.connections) return true;
  Connection* oldest = nullptr;
  for (const auto& [connection, owned] : clients_) {
    if (!connection->is_idle()) continue;
    if (oldest == nullptr || connection->idle_since() < oldest->idle_since()) oldest = connection;
  }
  if (oldest == nullptr) return false;
  oldest->close();
  return true;
}

// What there is too little of may come back; asking at once would only turn the loop.
void Server::pause_accepting() {
  for (const Listener& listener : listeners_) (void)loop_.change(listener.fd(), 0);
  loop_.cancel(pause_);
  pause_ = loop_.at(Clock::now() + kPause, [this] {
    pause_ = 0;
    for (const Listener& listener : listeners_) (void)loop_.change(listener.fd(), EPOLLIN);
  });
}

// Of who may not come in nothing more is held.
std::optional<HttpResponse> Server::on_head(const Connection& connection, const HttpRequest& head) {
  return api_.refuse(head, connection.peer());
}

void Server::on_request(Connection& connection, HttpRequest request) {
  if (is_draining_) connection.finish_after_answer();
  api_.handle(request, connection);
}

// Whoever holds most makes room: many who send much must not keep out those who send little.
void Server::on_growth() {
  while (true) {
    std::size_t held = 0;
    Connection* largest = nullptr;
    for (const auto& [connection, owned] : clients_) {
      held += connection->held_request();
      if (!connection->is_arriving()) continue;
      if (largest == nullptr || connection->held_request() > largest->held_request()) {
        largest = connection;
      }
    }
    if (held <= rules_.held || largest == nullptr) return;
    largest->refuse(
        to_response({503, "too_busy", "too much of requests is held already", "", kRetrySeconds}));
  }
}

// Whoever has the longest answer goes, and never the last one.
void Server::on_answer() {
  while (true) {
    std::size_t held = 0;
    std::size_t takers = 0;
    Connection* largest = nullptr;
    for (const auto& [connection, owned] : clients_) {
      if (connection->held_answer() == 0) continue;
      held += connection->held_answer();
      ++takers;
      if (largest == nullptr || connection->held_answer() > largest->held_answer()) {
        largest = connection;
      }
    }
    if (held <= rules_.held || takers < 2) return;
    largest->close();
  }
}

// The call comes from the connection itself, which goes in the next turn.
void Server::on_closed(Connection& connection) {
  // One call for each: what a connection itself has posted comes before it.
  loop_.post([this] { closed_.pop_front(); });
  closed_.push_back(std::move(clients_.extract(&connection).mapped()));
  if (is_draining_) loop_.post([this] { look_whether_done(); });
}

void Server::drain(int signal, std::function<void()> done) {
  if (!is_draining_) {
    is_draining_ = true;
    done_ = std::move(done);
    api_.begin_drain();
    drain_end_ = loop_.at(Clock::now() + rules_.drain, [this] {
      drain_end_ = 0;
      if (done_) std::exchange(done_, nullptr)();
    });
    for (const Listener& listener : listeners_) {
      // The manager keeps who comes now for the next server; ours are told that none comes.
      if (listener.is_handed()) loop_.forget(listener.fd());
    }
    for (const auto& [connection, owned] : clients_) connection->finish_after_answer();
  }
  queue_.drain(signal);
  sessions_.drain([this] { look_whether_done(); });
  loop_.post([this] { look_whether_done(); });
}

void Server::look_whether_done() {
  const bool is_answering =
      std::ranges::any_of(clients_, [](const auto& each) { return each.first->is_answering(); });
  // Also of those that were abandoned: their programs are to end in good order, too.
  if (!done_ || is_answering || queue_.running() > 0 || !sessions_.is_empty()) return;
  std::exchange(done_, nullptr)();
}

}  // namespace wardcase::supervisor
