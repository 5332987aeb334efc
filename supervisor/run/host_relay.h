// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <utility>

#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"
#include "supervisor/run/host_descriptor.h"

namespace wardcase::supervisor {

struct Relayed;

// A small process that copies between a pipe of ours and a descriptor that we
// cannot use without blocking: it blocks in our place. It ends at end of file, on an
// error, and with us.
class Relay {
 public:
  // `fd` is borrowed; reading: from it to us. Forks: call from a single-threaded process.
  static sys::Result<Relayed> start(int fd, HostAccess access);

  Relay(Relay&&) noexcept = default;
  Relay& operator=(Relay&&) = delete;
  ~Relay();  // kills and reaps it, if that was not done

  // Readable once it has ended.
  [[nodiscard]] int pidfd() const { return pidfd_.get(); }
  // Reaps it, once; waits for its end. The errno that ended it, 0 at end of file.
  [[nodiscard]] int reap();

 private:
  explicit Relay(sys::UniqueFd pidfd) : pidfd_(std::move(pidfd)) {}

  sys::UniqueFd pidfd_;  // closed once reaped
};

struct Relayed {
  Relay relay;
  HostDescriptor pipe;  // our end, in place of the descriptor
};

}  // namespace wardcase::supervisor
