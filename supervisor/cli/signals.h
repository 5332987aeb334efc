// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <signal.h>

#include <functional>
#include <optional>

#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"
#include "supervisor/run/event_loop.h"

namespace wardcase::supervisor {

// SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT and SIGWINCH as calls on the loop
// instead of interruptions. While it lives they are blocked; afterwards they do what they did.
class Signals {
 public:
  struct Signal {
    int number;
    bool is_of_kernel;  // and of no process, as of a terminal that has gone
  };
  using Handler = std::function<void(int signal)>;
  using ToldHandler = std::function<void(const Signal& signal)>;

  explicit Signals(EventLoop& loop) : loop_(loop) {}
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals();

  [[nodiscard]] sys::Status open(Handler handler);
  [[nodiscard]] sys::Status open_told(ToldHandler handler);

 private:
  void on_readable();

  EventLoop& loop_;
  ToldHandler handler_;
  sys::UniqueFd fd_;
  std::optional<sigset_t> mask_before_;
};

// Stops this process as the terminal's stop key would have; returns when
// somebody has continued it.
void stop_ourselves();

}  // namespace wardcase::supervisor
