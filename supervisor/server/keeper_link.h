// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "sandbox/sys/error.h"
#include "supervisor/run/event_loop.h"
#include "supervisor/sessions/frame_channel.h"
#include "supervisor/sessions/keeper_request.h"

namespace wardcase::supervisor {

// One question of the service to the keeper of a session, and its answer; nothing waits.
class KeeperLink {
 public:
  struct Events {
    // What comes before the last frame. `kind`: of keeper_protocol.h.
    std::function<void(char kind, std::string_view bytes)> on_part;
    // Exactly once: the last frame; nullptr: the session has ended, and with it the answer.
    // Neither may destroy the link, but let go of it (KeeperLinkOwner).
    std::function<void(const boost::json::object* last)> on_last;
    // All that was sent has been taken; may be empty.
    std::function<void()> on_drained = {};
  };

  KeeperLink(EventLoop& loop, Events events);
  KeeperLink(const KeeperLink&) = delete;
  KeeperLink& operator=(const KeeperLink&) = delete;

  // Connects. ENOENT, ECONNREFUSED: nobody keeps a session there.
  [[nodiscard]] sys::Status open(const std::string& socket);
  void ask(const KeeperRequest& request) { channel_.send(to_json(request)); }
  void send(std::string_view frame) { channel_.send(frame); }
  [[nodiscard]] std::size_t waiting() const { return channel_.waiting(); }
  void set_paused(bool is_paused) { channel_.set_paused(is_paused); }
  // Nobody is called back any more.
  void leave();

 private:
  void on_frame(std::string_view frame);
  void conclude(const boost::json::object* last);

  Events events_;
  FrameChannel channel_;
  bool is_over_ = false;
};

// Lets go of a link from wherever it is called back: it goes when that call is over.
struct LeaveKeeperLink {
  EventLoop* loop;
  void operator()(KeeperLink* link) const;
};
using KeeperLinkOwner = std::unique_ptr<KeeperLink, LeaveKeeperLink>;
[[nodiscard]] KeeperLinkOwner make_keeper_link(EventLoop& loop, KeeperLink::Events events);

// Members of what a keeper says; "" and 0 where there is none of that type.
[[nodiscard]] std::string text_of(const boost::json::object& object, std::string_view key);
[[nodiscard]] std::int64_t number_of(const boost::json::object& object, std::string_view key);

}  // namespace wardcase::supervisor
