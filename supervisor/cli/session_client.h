// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "sandbox/sys/error.h"
#include "supervisor/run/event_loop.h"
#include "supervisor/sessions/frame_channel.h"
#include "supervisor/sessions/keeper_request.h"

namespace wardcase::supervisor {

// One question to the keeper of a session, and its answer.
class SessionClient {
 public:
  // What comes before the last frame. `kind`: of keeper_protocol.h.
  using OnPart = std::function<void(char kind, std::string_view bytes)>;

  explicit SessionClient(EventLoop& loop);

  // Connects and asks. ENOENT: there is no such session.
  [[nodiscard]] sys::Status ask(std::string_view id, const KeeperRequest& request, OnPart on_part);
  // Says something beside it, while the answer is under way.
  void say(const KeeperRequest& request) { channel_.send(to_json(request)); }
  void send(std::string_view frame) { channel_.send(frame); }
  [[nodiscard]] std::size_t waiting() const { return channel_.waiting(); }
  void on_drained(std::function<void()> drained) { drained_ = std::move(drained); }
  // Turns the loop until the last frame came: its JSON object, as text. An error that it names
  // is an error here.
  [[nodiscard]] sys::Result<std::string> await();

 private:
  void on_frame(std::string_view frame);

  EventLoop& loop_;
  FrameChannel channel_;
  OnPart on_part_;
  std::function<void()> drained_;
  std::string last_;
};

// A member of the last frame's object; "" and 0 where there is none of that type.
[[nodiscard]] std::string text_member(const std::string& object, std::string_view key);
[[nodiscard]] std::int64_t number_member(const std::string& object, std::string_view key);
// As JSON.
[[nodiscard]] std::string member_json(const std::string& object, std::string_view key);

// Asks, where nothing but the last frame matters. ETIMEDOUT: the keeper said nothing for so long,
// as one that is stopped.
[[nodiscard]] sys::Result<std::string> ask_session(
    std::string_view id, const KeeperRequest& request,
    std::chrono::seconds patience = std::chrono::seconds(60));

}  // namespace wardcase::supervisor
