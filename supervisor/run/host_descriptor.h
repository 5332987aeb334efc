// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"

namespace wardcase::supervisor {

// How a descriptor that we share with others can be used without waiting and
// without setting O_NONBLOCK, which belongs to all who share it.
enum class HostUse : std::uint8_t {
  direct,           // regular files and devices that are always ready
  socket,           // by MSG_DONTWAIT
  own_description,  // a pipe or terminal, reopened for ourselves without blocking
  relay,            // what can't be reopened (another user's pipe): only by a Relay
};

enum class HostAccess : std::uint8_t { reading, writing };

struct HostDescriptor {
  sys::UniqueFd fd;  // our own: a duplicate, or the reopened one
  HostUse use = HostUse::relay;
  bool is_terminal = false;
};

// `fd` is borrowed and may be closed afterwards. Fails where it is not open.
[[nodiscard]] sys::Result<HostDescriptor> open_host_descriptor(int fd, HostAccess access);

// As read(2) and write(2), but EAGAIN where they would wait. Not for HostUse::relay.
[[nodiscard]] ssize_t read_now(const HostDescriptor& descriptor, std::span<char> buffer);
[[nodiscard]] ssize_t write_now(const HostDescriptor& descriptor, std::string_view bytes);

}  // namespace wardcase::supervisor
