// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "supervisor/agent/agent_protocol.h"

// The agent's side of its socket. Like all of the agent this allocates nothing and links against
// the C library alone: what is small starts quickly, and a box that is short of memory has it
// still.
namespace wardcase::agent {

struct Received {
  std::span<char> message;  // empty: the other end is gone
  std::array<int, kStartDescriptors> descriptors = {};
  std::size_t descriptor_count = 0;
  bool is_cut = false;  // more than there was room for; what came is of no use
};

// Waits for one message. Descriptors are close-on-exec, and the receiver's to close. A socket
// that can't be read is as good as gone.
[[nodiscard]] Received receive_datagram(std::span<char> buffer) noexcept;

// False: the other end is gone.
[[nodiscard]] bool send_datagram(std::span<const char> message) noexcept;
[[nodiscard]] bool send_descriptor(int fd) noexcept;

template <typename Head>
[[nodiscard]] bool send_head(const Head& head) noexcept {
  return send_datagram({reinterpret_cast<const char*>(&head), sizeof head});
}

}  // namespace wardcase::agent
