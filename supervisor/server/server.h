// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/run/event_loop.h"
#include "supervisor/server/api.h"
#include "supervisor/server/connection.h"
#include "supervisor/server/listener.h"
#include "supervisor/server/run_queue.h"
#include "supervisor/server/session_registry.h"

namespace wardcase::supervisor {

// Takes clients, has their requests answered, and ends in good order.
class Server : private ConnectionOwner {
 public:
  struct Rules {
    ConnectionRules connection;
    std::size_t connections = 512;
    std::size_t held = 256 << 20;  // of requests that arrive, and of answers, each in all
    std::chrono::milliseconds drain{45'000};  // longer than the longest grace
  };

  Server(EventLoop& loop, const Rules& rules, std::vector<Listener> listeners, Api& api,
         RunQueue& queue, SessionRegistry& sessions);
  ~Server() override;
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] sys::Status open();

  // No run begins any more, those under way are stopped, their answers are delivered; then
  // `done` is called, at the latest when the time for it is over. A second call ends the patience
  // with programs.
  void drain(int signal, std::function<void()> done);
  // To be called when something of the queue or the sessions has changed.
  void look_whether_done();

  [[nodiscard]] std::size_t connections() const { return clients_.size(); }

 private:
  [[nodiscard]] std::optional<HttpResponse> on_head(const Connection& connection,
                                                    const HttpRequest& head) override;
  void on_request(Connection& connection, HttpRequest request) override;
  void on_growth() override;
  void on_answer() override;
  void on_closed(Connection& connection) override;
  void accept_one(Listener& listener);
  void pause_accepting();
  [[nodiscard]] bool make_room();

  EventLoop& loop_;
  Rules rules_;
  std::vector<Listener> listeners_;
  Api& api_;
  RunQueue& queue_;
  SessionRegistry& sessions_;
  std::map<Connection*, std::unique_ptr<Connection>> clients_;
  std::deque<std::unique_ptr<Connection>> closed_;  // until the call from them is over
  EventLoop::TimerId pause_ = 0;
  EventLoop::TimerId drain_end_ = 0;
  std::function<void()> done_;
  bool is_draining_ = false;
};

}  // namespace wardcase::supervisor
