// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"
#include "supervisor/run/event_loop.h"

namespace wardcase::supervisor {

// What a live interpreter has as its stdin: one pipe for its whole life, of which each program
// sees an end of its own. As long as nobody has it open for writing, a read ends (pipe(7)); opened
// again, by way of /proc/self/fd, it goes on.
class StdinGate {
 public:
  static constexpr std::size_t kMostWaiting = 1 << 20;

  explicit StdinGate(EventLoop& loop) : loop_(loop) {}
  StdinGate(const StdinGate&) = delete;
  StdinGate& operator=(const StdinGate&) = delete;
  ~StdinGate() { shut(); }

  // Makes the pipe; the result is the interpreter's end.
  [[nodiscard]] sys::Result<sys::UniqueFd> make();
  // From here a read waits for what write() brings.
  [[nodiscard]] sys::Status let_in();
  [[nodiscard]] bool is_let_in() const { return write_.is_open(); }
  // Bytes for whoever reads; what does not fit waits here. Fails where it is shut, or where more
  // than kMostWaiting would wait (EAGAIN). `taken`, which may be empty, is called once nothing
  // waits here any more, at once or later, unless it is shut before.
  [[nodiscard]] sys::Status write(std::string_view bytes, std::function<void()> taken);
  // End of file, once all that was written has been taken by the pipe.
  void finish();
  // End of file at once; what was not read is thrown away.
  void shut();
  // Whether all that was written has been read.
  [[nodiscard]] bool is_empty() const;
  // Our own reading end, by which the pipe is told from others; -1 before make().
  [[nodiscard]] int fd() const { return read_.get(); }

 private:
  void write_some();
  void close_write();

  EventLoop& loop_;
  sys::UniqueFd read_;
  sys::UniqueFd write_;
  std::string waiting_;
  std::function<void()> taken_;
  bool is_finishing_ = false;
  bool is_watched_ = false;
};

}  // namespace wardcase::supervisor
