// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "sandbox/sys/error.h"
#include "supervisor/agent/agent_protocol.h"

// The supervisor's side of agent_protocol.h.
namespace wardcase::agent {

// What the supervisor wants started.
struct StartRequest {
  std::uint32_t id = 0;
  std::string directory;
  std::vector<std::string> arguments;    // the first: candidates, with a newline between them
  std::vector<std::string> environment;  // "NAME=VALUE"
};

// The message of it. EINVAL: no program, or a NUL in a string. E2BIG: more than kMaxMessage.
[[nodiscard]] sys::Result<std::vector<char>> encode(const StartRequest& request);

// A head that is the whole message, as bytes.
template <typename Head>
[[nodiscard]] std::span<const char> bytes_of(const Head& head) {
  static_assert(std::is_trivially_copyable_v<Head>);
  return {reinterpret_cast<const char*>(&head), sizeof head};
}

// Sends one message, with copies of these descriptors. Codes: as sendmsg(2); EAGAIN where the
// socket does not block and the agent is behind, EPIPE where it is gone.
[[nodiscard]] sys::Status send_message(int socket, std::span<const char> message,
                                       std::span<const int> descriptors = {});

// What the agent says. Its programs have no way to the socket, but nothing hangs on that: what
// is no message of it has kind 0.
struct FromAgent {
  Kind kind = Kind{0};
  Started started = {};
  Ended ended = {};
  EveryoneGone everyone_gone = {};
  Signalled signalled = {};
};
[[nodiscard]] FromAgent decode(std::span<const char> message);

}  // namespace wardcase::agent
