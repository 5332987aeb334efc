// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"
#include "supervisor/run/event_loop.h"

namespace wardcase::supervisor {

// Reads one output pipe of the program. One chunk a wake-up and no more: a
// program that writes without pause must not hold the loop away from its own
// deadline. The sink may pause and close the pump, but not destroy it. At end of
// file the pump closes itself, and when reading fails, which it tells by errno.
class OutputPump {
 public:
  using Sink = std::function<void(std::string_view)>;
  using OnBroken = std::function<void(int)>;

  OutputPump(EventLoop& loop, Sink sink, OnBroken on_broken);
  OutputPump(const OutputPump&) = delete;
  OutputPump& operator=(const OutputPump&) = delete;
  ~OutputPump();

  // Takes the non-blocking read end; once in the pump's life. Errors: as EventLoop::watch.
  [[nodiscard]] sys::Status open(sys::UniqueFd source);
  // No more bytes until resume(), drain() excepted.
  void pause();
  void resume();
  // After the tree is dead: reads until the pipe is empty, never waiting for its
  // end (a write end can live on in a socket's queue), bounded by the largest pipe.
  void drain();
  void close();

 private:
  void on_readable();
  std::size_t read_chunk();
  void count(std::size_t bytes);

  EventLoop& loop_;
  Sink sink_;
  OnBroken on_broken_;
  sys::UniqueFd source_;
  std::size_t total_ = 0;
  bool paused_ = false;
};

}  // namespace wardcase::supervisor
