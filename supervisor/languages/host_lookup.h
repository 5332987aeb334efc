// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"
#include "supervisor/run/event_loop.h"

namespace wardcase::supervisor {

struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t size = 0;
};

// An address as it is written, with a port; nothing for a name.
[[nodiscard]] std::vector<SocketAddress> numeric_address(const std::string& host,
                                                         std::uint16_t port);

// Finds addresses of hosts without holding up the loop: the C library's resolver waits, and wants
// shared libraries, so that the companion is asked (wardcase-server resolve). Each name once.
class HostLookup {
 public:
  using Done = std::function<void(const sys::Result<std::vector<std::string>>& addresses)>;

  explicit HostLookup(EventLoop& loop) : loop_(loop) {}
  HostLookup(const HostLookup&) = delete;
  HostLookup& operator=(const HostLookup&) = delete;
  ~HostLookup();  // who waits is not called any more

  // `done` is called once, in this turn of the loop or in a later one.
  void find(const std::string& host, Done done);

 private:
  struct Question {
    pid_t pid = -1;
    sys::UniqueFd answer;  // its stdout
    std::string text;
    EventLoop::TimerId timer = 0;
    std::vector<Done> waiting;
    bool is_over = false;
    sys::Result<std::vector<std::string>> addresses;
  };

  [[nodiscard]] sys::Status ask(const std::string& host, Question& question);
  void on_readable(const std::string& host);
  void finish(const std::string& host);
  void forget(Question& question);

  EventLoop& loop_;
  std::map<std::string, std::unique_ptr<Question>> questions_;
};

}  // namespace wardcase::supervisor
