// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "sandbox/sys/unique_fd.h"
#include "supervisor/languages/host_lookup.h"
#include "supervisor/languages/proxy_request.h"
#include "supervisor/run/event_loop.h"

namespace wardcase::supervisor {

// One connection that a client in a box made to its proxy: what it asks for is read, judged, and,
// if it may be, connected. The client's socket is shared with the box: whether it blocks is for
// nobody to say but each call.
class ProxyConnection {
 public:
  // Why it may not be: a sentence for the client, "" if it may.
  using Judge = std::function<std::string(const policies::WebAddress& address)>;
  using Ended = std::function<void()>;

  ProxyConnection(EventLoop& loop, HostLookup& lookup, sys::UniqueFd client, Judge judge,
                  Ended ended);
  ProxyConnection(const ProxyConnection&) = delete;
  ProxyConnection& operator=(const ProxyConnection&) = delete;
  ~ProxyConnection();

  // `ended` is called once, in a later turn of the loop or in this one, and may not destroy this.
  void start();

 private:
  enum class Phase { head, finding, connecting, relaying, over };
  // One way of the relay: what was read from one end and not yet written to the other.
  struct Way {
    std::string pending;
    bool is_ended = false;  // nothing more will be read
    bool is_shut = false;   // and the other end was told
  };
  struct End {
    sys::UniqueFd fd;
    bool is_gone = false;  // both ways are over; it is not watched any more
    std::uint32_t events = 0;
  };

  void on_client(std::uint32_t events);
  void read_head();
  void on_head(std::size_t size);
  void on_addresses(const sys::Result<std::vector<std::string>>& addresses);
  void connect_next();
  void on_connected();
  void begin_relay();
  void relay();
  [[nodiscard]] bool move(Way& way, int from, int to);
  void watch_ends();
  void watch(End& end, std::uint32_t events);
  void on_end(End& end, std::uint32_t events);
  void refuse(int status, const std::string& why);
  void check_idle();
  void end();

  EventLoop& loop_;
  HostLookup& lookup_;
  Judge judge_;
  Ended ended_;
  Phase phase_ = Phase::head;
  End client_;
  End server_;
  Way to_server_;
  Way to_client_;
  ProxyRequest request_;
  std::vector<SocketAddress> addresses_;
  Clock::time_point moved_at_;
  EventLoop::TimerId timer_ = 0;
  // Calls that outlive this find it gone.
  std::shared_ptr<bool> is_alive_ = std::make_shared<bool>(true);
};

}  // namespace wardcase::supervisor
