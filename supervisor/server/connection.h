// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "sandbox/sys/unique_fd.h"
#include "supervisor/run/event_loop.h"
#include "supervisor/server/exchange.h"
#include "supervisor/server/http_codec.h"
#include "supervisor/server/received_files.h"

namespace wardcase::supervisor {

class Connection;

// Whoever answers. Called on the loop's thread; a call may use any method of the
// connection except its destructor.
class ConnectionOwner {
 public:
  ConnectionOwner() = default;
  ConnectionOwner(const ConnectionOwner&) = delete;
  ConnectionOwner& operator=(const ConnectionOwner&) = delete;
  virtual ~ConnectionOwner() = default;

  // A body follows: why that is not worth reading.
  [[nodiscard]] virtual std::optional<HttpResponse> on_head(const Connection& connection,
                                                            const HttpRequest& head) = 0;
  // To be answered by answer(), now or later. None other comes before that.
  virtual void on_request(Connection& connection, HttpRequest request) = 0;
  // It holds more of a request, or of an answer, than before.
  virtual void on_growth() = 0;
  virtual void on_answer() = 0;
  // The last of all. A request that was not answered yet needs no answer any more.
  virtual void on_closed(Connection& connection) = 0;
};

// How long a client may take, and how much it may send.
struct ConnectionRules {
  RequestReader::Most most;
  std::chrono::milliseconds idle{75'000};     // between two requests
  std::chrono::milliseconds header{10'000};   // from the first byte of a request to its body
  std::chrono::milliseconds body{60'000};     // from there to its end
  std::chrono::milliseconds stalled{30'000};  // nothing of an answer is taken
  std::chrono::milliseconds answer{600'000};  // all of an answer that is not a stream
  std::chrono::milliseconds silence{15'000};  // of a stream, until it tells that it is there
  std::chrono::milliseconds linger{2'000};    // what still comes from a client that is refused
};

// One client: reads its requests in their order, one at a time, and writes the answers. It
// reads nothing while a request is being answered, so that what it holds is bounded.
class Connection : public Exchange {
 public:
  Connection(EventLoop& loop, sys::UniqueFd socket, Transport transport,
             const ConnectionRules& rules, ConnectionOwner& owner);
  ~Connection() override;

  [[nodiscard]] sys::Status open();

  [[nodiscard]] const Peer& peer() const override { return peer_; }
  [[nodiscard]] std::span<const sys::UniqueFd> descriptors() const override { return files_.all(); }
  void answer(const HttpResponse& response) override;
  void stream(const HttpResponse& head, std::unique_ptr<BodySource> body) override;
  void wake() override;
  void hold(std::unique_ptr<PendingAnswer> pending) override;
  // An answer to whatever comes; nothing else is read.
  void refuse(const HttpResponse& response);
  // The answer that is due next is the last one.
  void finish_after_answer() { is_last_ = true; }
  void close();

  // Nothing of a request is here, and no answer is due or under way.
  [[nodiscard]] bool is_idle() const { return phase_ == Phase::idle; }
  // A part of a request is here.
  [[nodiscard]] bool is_arriving() const { return phase_ == Phase::head || phase_ == Phase::body; }
  // A request is being answered.
  [[nodiscard]] bool is_answering() const {
    return phase_ == Phase::answering || phase_ == Phase::writing;
  }
  [[nodiscard]] Clock::time_point idle_since() const { return idle_since_; }
  // What is here of a request that is still arriving, and of an answer until all of it was taken.
  [[nodiscard]] std::size_t held_request() const { return input_.size() + reader_.held(); }
  [[nodiscard]] std::size_t held_answer() const { return output_.size(); }

 private:
  enum class Phase : std::uint8_t { idle, head, body, answering, writing, lingering, closed };

  void on_events(std::uint32_t events);
  void on_readable();
  void read_requests();
  void enter(Phase phase);
  void begin_writing();
  void write_some();
  void write_more_of_body();
  void wait_for_body();
  [[nodiscard]] std::string framed(const std::string& part) const;
  void drop_answer();
  void after_answer();
  void discard();
  void on_late();
  [[nodiscard]] std::uint32_t wanted_events() const;
  [[nodiscard]] std::chrono::milliseconds patience() const;

  EventLoop& loop_;
  sys::UniqueFd socket_;
  Peer peer_;
  const ConnectionRules& rules_;
  ConnectionOwner& owner_;
  RequestReader reader_;
  Phase phase_ = Phase::idle;
  std::string input_;
  ReceivedFiles files_;  // for the request that comes
  std::string output_;
  std::size_t written_ = 0;
  Clock::time_point answer_began_;
  std::unique_ptr<PendingAnswer> pending_;
  std::unique_ptr<BodySource> body_;  // of a stream, until its end
  bool is_woken_ = false;
  bool keeps_alive_ = true;
  bool takes_chunks_ = true;
  bool is_counted_ = false;  // the body of the answer has the length that its head told
  bool omits_body_ = false;  // of HEAD
  bool is_last_ = false;
  Clock::time_point idle_since_;
  EventLoop::TimerId timer_ = 0;
};

}  // namespace wardcase::supervisor
