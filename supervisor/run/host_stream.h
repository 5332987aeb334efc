// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "supervisor/run/event_loop.h"

namespace wardcase::supervisor {

// Writes to a descriptor that was inherited (our own stdout or stderr), without
// ever blocking the loop and without changing the flags of its open file
// description, which others share. How depends on what it is: a regular file or
// /dev/null is written directly; a socket by send(MSG_DONTWAIT); a pipe or terminal
// through an own description, reopened by /proc/self/fd; what can't be reopened
// (another user's) through a small relay process.
//
// SIGPIPE must be ignored in the whole process: a write to a pipe has no flag that
// holds it back.
class HostWriter {
 public:
  // on_blocked: more was given than could be written; on_drained: all went out;
  // on_broken: the reader is gone (EPIPE) or writing failed; what was kept and later
  // writes are dropped. They may come from within write(), and must not destroy the writer.
  struct Events {
    std::function<void()> on_blocked;
    std::function<void()> on_drained;
    std::function<void(int error)> on_broken;
  };
  // `fd` is borrowed for the call. Fails where it is not open, or a relay can't be started.
  static sys::Result<std::unique_ptr<HostWriter>> open(EventLoop& loop, int fd, Events events);
  HostWriter(const HostWriter&) = delete;
  HostWriter& operator=(const HostWriter&) = delete;
  virtual ~HostWriter() = default;

  virtual void write(std::string_view bytes) = 0;  // what can't go at once is kept
  [[nodiscard]] virtual bool is_blocked() const = 0;
  // No more writes will come. One last call follows, in a later turn: on_drained
  // once all is out (a relay: once it has ended) or nothing more can go out, or
  // on_broken if that is found now. Without it, what is kept is lost.
  virtual void finish() = 0;

 protected:
  HostWriter() = default;
};

// Relays a host descriptor (our stdin, or a file) to the program's stdin pipe,
// with the same care, reading at most 64 KiB ahead of the program; closes the pipe at
// end of file, on an error, and when the program closes its end. A terminal is read only
// when it has something. An error is told by errno: what the program got is not all. The
// end of a terminal (EIO) and a program that reads no more (EPIPE) are none.
class StdinPump {
 public:
  // `source`: stdin itself is given as a duplicate. `sink`: non-blocking pipe end.
  static sys::Result<std::unique_ptr<StdinPump>> open(EventLoop& loop, sys::UniqueFd source,
                                                      sys::UniqueFd sink,
                                                      std::function<void(int)> on_broken);
  StdinPump(const StdinPump&) = delete;
  StdinPump& operator=(const StdinPump&) = delete;
  virtual ~StdinPump() = default;

  // The sink, borrowed, as long as it is open and nothing waits to be passed on; else -1.
  [[nodiscard]] virtual int idle_sink() const = 0;
  // Bytes that were passed on so far.
  [[nodiscard]] virtual std::uint64_t passed() const = 0;

 protected:
  StdinPump() = default;
};

}  // namespace wardcase::supervisor
