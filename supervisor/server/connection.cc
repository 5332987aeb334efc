// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// A connection is in one phase, and each phase has the events it waits for and the time
// after which it is over: idle, head, body (the client's), answering (ours), writing, and
// lingering: closing a socket while the client still sends would take our answer from it, so
// what comes is read and dropped for a while. A stream goes to and fro between writing and
// answering: what it has next is asked for when what was sent has been taken, so that it
// never holds more than a piece.
#include "supervisor/server/connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "sandbox/sys/retry.h"
#include "supervisor/server/problem.h"

namespace wardcase::supervisor {

namespace {

constexpr std::size_t kChunk = 64 << 10;

// Supplementary ones. Where they can't be told there are none: they only ever allow more.
std::vector<gid_t> groups_at(int socket) {
  constexpr std::size_t kUsual = 32;
  std::vector<gid_t> groups(kUsual);
  for (int tries = 0; tries < 2; ++tries) {
    auto size = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
    const int got = ::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &size);
    groups.resize(size / sizeof(gid_t));  // of too few it says how many they are
    if (got == 0) return groups;
    if (errno != ERANGE) break;
  }
  return {};
}

Peer peer_of(int socket, Transport transport) {
  Peer peer = {transport};
  if (transport != Transport::unix_socket) return peer;
  ucred credentials = {};
  socklen_t size = sizeof credentials;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) < 0) return peer;
  peer.uid = credentials.uid;
  peer.groups = groups_at(socket);
  peer.groups.push_back(credentials.gid);
  return peer;
}

}  // namespace

Connection::Connection(EventLoop& loop, sys::UniqueFd socket, Transport transport,
                       const ConnectionRules& rules, ConnectionOwner& owner)
    : loop_(loop),
      socket_(std::move(socket)),
      peer_(peer_of(socket_.get(), transport)),
      rules_(rules),
      owner_(owner),
      reader_(rules.most),
      idle_since_(Clock::now()) {}

Connection::~Connection() {
  loop_.cancel(timer_);
  if (socket_.is_open()) loop_.forget(socket_.get());
}

sys::Status Connection::open() {
  auto watched = loop_.watch(socket_.get(), wanted_events(),
                             [this](std::uint32_t events) { on_events(events); });
  if (watched) enter(Phase::idle);
  return watched;
}

// A client that closes a Unix socket hangs up; one that only sends no more does not, and
// waits. TCP tells both in the same way.
std::uint32_t Connection::wanted_events() const {
  switch (phase_) {
    case Phase::answering:
      return peer_.transport == Transport::tcp ? std::uint32_t{EPOLLRDHUP} : 0;
    case Phase::writing:
      return EPOLLOUT;
    default:
      return EPOLLIN;
  }
}

std::chrono::milliseconds Connection::patience() const {
  switch (phase_) {
    case Phase::head:
      return rules_.header;
    case Phase::body:
      return rules_.body;
    case Phase::writing:
      return rules_.stalled;
    case Phase::lingering:
      return rules_.linger;
    default:
      return rules_.idle;
  }
}

void Connection::enter(Phase phase) {
  phase_ = phase;
  loop_.cancel(std::exchange(timer_, 0));
  if (phase_ == Phase::closed) return;
  if (phase_ == Phase::idle) idle_since_ = Clock::now();
  if (phase_ != Phase::answering) {  // a run has its own limits
    timer_ = loop_.at(Clock::now() + patience(), [this] { on_late(); });
  }
  if (!loop_.change(socket_.get(), wanted_events())) close();
}

void Connection::close() {
  if (phase_ == Phase::closed) return;
  enter(Phase::closed);
  loop_.forget(socket_.get());
  socket_.reset();
  files_.close();
  drop_answer();
  owner_.on_closed(*this);
}

void Connection::on_late() {
  timer_ = 0;
  if (phase_ == Phase::head || phase_ == Phase::body) {
    return refuse(to_response({408, "request_timeout", "the request took too long to arrive"}));
  }
  close();
}

void Connection::on_events(std::uint32_t events) {
  if (phase_ == Phase::writing && (events & (EPOLLERR | EPOLLHUP)) == 0) return write_some();
  if (phase_ == Phase::answering || phase_ == Phase::writing) return close();  // it has gone
  if (phase_ == Phase::lingering) return discard();
  on_readable();
}

void Connection::on_readable() {
  std::array<char, kChunk> chunk;
  const ssize_t got = files_.receive(socket_.get(), chunk);
  if (got < 0 && errno == EAGAIN) return;
  if (got <= 0) return close();
  if (files_.are_too_many()) {
    return refuse(to_response(
        {400, "bad_request",
         "a request comes with " + std::to_string(ReceivedFiles::kMost) + " descriptors at most"}));
  }
  input_.append(chunk.data(), static_cast<std::size_t>(got));
  read_requests();
}

void Connection::read_requests() {
  if (phase_ != Phase::idle && phase_ != Phase::head && phase_ != Phase::body) return;
  using State = RequestReader::State;
  const bool was_in_head = reader_.state() < State::in_body;
  input_.erase(0, reader_.feed(input_));
  switch (reader_.state()) {
    case State::nothing_yet:
      return;
    case State::failed: {
      const ReadFailure& failure = reader_.failure();
      return refuse(
          to_response({failure.status, std::string(failure.code), std::string(failure.detail)}));
    }
    case State::in_head:
      if (phase_ == Phase::idle) enter(Phase::head);
      return;
    case State::in_body:
      if (was_in_head) {
        enter(Phase::body);
        if (const auto refusal = owner_.on_head(*this, reader_.head())) return refuse(*refusal);
      }
      // So short that it always has room: nothing of an answer waits here.
      if (was_in_head && reader_.expects_continue()) {
        (void)::send(socket_.get(), kContinue.data(), kContinue.size(),
                     MSG_NOSIGNAL | MSG_DONTWAIT);
      }
      return owner_.on_growth();
    case State::complete:
      break;
  }
  HttpRequest request = reader_.take();
  reader_ = RequestReader(rules_.most);
  keeps_alive_ = request.keep_alive;
  takes_chunks_ = request.takes_chunks;
  omits_body_ = request.method == "HEAD";
  enter(Phase::answering);
  if (phase_ == Phase::answering) owner_.on_request(*this, std::move(request));
  files_.close();
}

// Both may end a run, which may have us called again.
void Connection::drop_answer() {
  const auto pending = std::move(pending_);
  const auto body = std::move(body_);
}

void Connection::hold(std::unique_ptr<PendingAnswer> pending) {
  if (phase_ == Phase::answering) pending_ = std::move(pending);
}

void Connection::answer(const HttpResponse& response) {
  if (phase_ != Phase::answering) return;  // the client has gone meanwhile
  drop_answer();
  is_last_ = is_last_ || !keeps_alive_;
  output_ = response_head(response, is_last_ ? Afterwards::close : Afterwards::keep_open);
  if (!omits_body_) output_ += response.body;
  begin_writing();
  owner_.on_answer();
}

void Connection::stream(const HttpResponse& head, std::unique_ptr<BodySource> body) {
  if (phase_ != Phase::answering) return;
  is_counted_ = head.length.has_value();
  is_last_ = is_last_ || !keeps_alive_ || !(takes_chunks_ || is_counted_);
  const Framing framing = is_counted_     ? Framing::length
                          : takes_chunks_ ? Framing::chunks
                                          : Framing::connection;
  output_ = response_head(head, is_last_ ? Afterwards::close : Afterwards::keep_open, framing);
  if (!omits_body_) body_ = std::move(body);
  begin_writing();
}

void Connection::wake() {
  if (is_woken_) return;
  is_woken_ = true;
  loop_.post([this] {  // what comes in one turn goes in one piece
    is_woken_ = false;
    if (body_ != nullptr && phase_ == Phase::answering) write_more_of_body();
  });
}

void Connection::write_more_of_body() {
  std::string parts;
  auto state = BodySource::State::more;
  while (state == BodySource::State::more && parts.size() < kChunk) state = body_->read(parts);
  if (state == BodySource::State::failed) return close();
  if (!parts.empty()) output_ += framed(parts);
  if (state == BodySource::State::over) {
    output_ += framed("");
    body_.reset();
  }
  if (state == BodySource::State::over && output_.empty()) return after_answer();
  if (output_.empty()) return wait_for_body();
  begin_writing();
  owner_.on_answer();
}

// "" ends it.
std::string Connection::framed(const std::string& part) const {
  return takes_chunks_ && !is_counted_ ? chunk_of(part) : part;
}

void Connection::wait_for_body() {
  enter(Phase::answering);
  if (phase_ != Phase::answering) return;
  timer_ = loop_.at(Clock::now() + rules_.silence, [this] {
    timer_ = 0;
    output_ = framed(body_->heartbeat());
    begin_writing();
  });
}

void Connection::refuse(const HttpResponse& response) {
  if (phase_ == Phase::closed || phase_ == Phase::writing || phase_ == Phase::lingering) return;
  output_ = response_head(response, Afterwards::close) + response.body;
  is_last_ = true;
  // Nobody will read what came of the request.
  reader_ = RequestReader(rules_.most);
  input_ = std::string();
  begin_writing();
}

void Connection::begin_writing() {
  written_ = 0;
  answer_began_ = Clock::now();
  enter(Phase::writing);
  if (phase_ == Phase::writing) write_some();
}

void Connection::write_some() {
  const ssize_t sent = sys::retry_eintr([&] {
    return ::send(socket_.get(), output_.data() + written_, output_.size() - written_,
                  MSG_NOSIGNAL | MSG_DONTWAIT);
  });
  if (sent < 0 && errno == EAGAIN) return;
  if (sent < 0) return close();
  written_ += static_cast<std::size_t>(sent);
  if (written_ == output_.size()) {
    output_ = std::string();  // what a long answer took is given back
    if (body_ == nullptr) return after_answer();
    enter(Phase::answering);
    return wake();  // the loop turns between two pieces
  }
  if (body_ == nullptr && Clock::now() > answer_began_ + rules_.answer) return close();
  loop_.cancel(timer_);
  timer_ = loop_.at(Clock::now() + rules_.stalled, [this] { on_late(); });
}

void Connection::after_answer() {
  written_ = 0;
  if (!is_last_) {
    enter(Phase::idle);
    // Not from here: requests that came in one piece would be answered by ever deeper calls.
    if (!input_.empty()) loop_.post([this] { read_requests(); });
    return;
  }
  (void)::shutdown(socket_.get(), SHUT_WR);  // fails only for who has gone
  input_ = std::string();
  enter(Phase::lingering);
}

void Connection::discard() {
  std::array<char, kChunk> chunk;
  const ssize_t got = sys::retry_eintr(
      [&] { return ::recv(socket_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT); });
  if (got == 0 || (got < 0 && errno != EAGAIN)) close();
}

}  // namespace wardcase::supervisor
