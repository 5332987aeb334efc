// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "policies/web_address.h"
#include "sandbox/sys/unique_fd.h"
#include "supervisor/languages/host_lookup.h"
#include "supervisor/languages/proxy_connection.h"
#include "supervisor/run/event_loop.h"

namespace wardcase::supervisor {

// The way from a box that has no network to the hosts that its installer may talk to. In the box
// wardcase-agent listens on a port of the loopback and hands each connection to us; what is asked
// for on it is judged here, where nothing in the box can reach.
class InstallProxy {
 public:
  InstallProxy(EventLoop& loop, std::vector<policies::WebAddress> allowed)
      : loop_(loop), lookup_(loop), allowed_(std::move(allowed)) {}
  InstallProxy(const InstallProxy&) = delete;
  InstallProxy& operator=(const InstallProxy&) = delete;
  ~InstallProxy();

  // Begins; the result is the box's end (RunSpec::channel).
  [[nodiscard]] sys::Result<sys::UniqueFd> open();

  // HOST:PORT that were asked for and may not be reached, the first ones.
  [[nodiscard]] const std::vector<std::string>& refused() const { return refused_; }

 private:
  void on_channel();
  void take(sys::UniqueFd connection);
  [[nodiscard]] std::string judge(const policies::WebAddress& address);
  void drop_ended();

  EventLoop& loop_;
  HostLookup lookup_;
  std::vector<policies::WebAddress> allowed_;
  std::vector<std::string> refused_;
  sys::UniqueFd channel_;
  struct Client {
    std::unique_ptr<ProxyConnection> connection;
    bool is_over = false;
  };
  std::vector<std::unique_ptr<Client>> clients_;
  std::shared_ptr<bool> is_alive_ = std::make_shared<bool>(true);
};

// HOST:PORT, an IPv6 address in brackets.
[[nodiscard]] std::string authority_of(const policies::WebAddress& address);

}  // namespace wardcase::supervisor
