// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"
#include "supervisor/run/event_loop.h"

namespace wardcase::supervisor {

// A stream socket on which both sides send frames: four bytes of length, most significant first,
// and as many bytes. Nothing blocks; what can't be sent yet waits here, in order.
class FrameChannel {
 public:
  struct Bounds {
    std::size_t frame = 1 << 20;    // of what the peer sends
    std::size_t waiting = 4 << 20;  // of what waits for the peer to take it
  };
  struct Events {
    // A whole frame. `frame` is gone after the call, which may close the channel, but not destroy
    // it.
    std::function<void(std::string_view frame)> on_frame;
    // Exactly once, unless close() came first: the peer has gone, broke the rules, or takes
    // nothing.
    std::function<void(const std::string& why)> on_closed;
    // All that waited has been sent; may be empty.
    std::function<void()> on_drained = {};
  };

  FrameChannel(EventLoop& loop, Bounds bounds, Events events)
      : loop_(loop), bounds_(bounds), events_(std::move(events)) {}
  FrameChannel(const FrameChannel&) = delete;
  FrameChannel& operator=(const FrameChannel&) = delete;
  ~FrameChannel() { close(); }

  // Takes a connected socket; once in a channel's life. Errors: as EventLoop::watch.
  [[nodiscard]] sys::Status open(sys::UniqueFd socket);
  // Sends it, or what can't be sent yet later. No-op once closed.
  void send(std::string_view frame);
  // As `send`, without a length before it: for a peer that reads lines.
  void send_bytes(std::string_view bytes);
  // While paused no frame comes, and the peer is held once what lies between is full.
  void set_paused(bool is_paused);
  [[nodiscard]] bool is_open() const { return socket_.is_open(); }
  [[nodiscard]] int fd() const { return socket_.get(); }
  [[nodiscard]] std::size_t waiting() const { return out_.size(); }
  void close();

 private:
  void on_event(std::uint32_t events);
  void read_some();
  void take_frames();
  void write_some();
  void give_up();
  void watch_for(bool writing);
  void settle_events();
  void fail(const std::string& why);

  EventLoop& loop_;
  Bounds bounds_;
  Events events_;
  sys::UniqueFd socket_;
  std::string in_;
  std::string out_;
  bool is_writing_ = false;
  bool is_paused_ = false;
};

}  // namespace wardcase::supervisor
