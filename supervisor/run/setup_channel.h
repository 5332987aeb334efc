// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <optional>

#include "sandbox/setup_report.h"
#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"

namespace wardcase::supervisor {

struct ReceivedMessage {
  sandbox::SetupMessage message;
  sys::UniqueFd descriptor;  // closed where none came
  int error = 0;             // broken: errno
};

enum class ChannelState : std::uint8_t { message, nothing_yet, closed, broken };

// Takes one message from a setup or life socket without waiting. A datagram
// that is not a SetupMessage counts as the end of the channel: whoever sent it is not our child's
// code. Broken: we failed to take it, or the descriptor that came with it; nothing is known of
// what else was said.
[[nodiscard]] ChannelState receive_message(int socket, ReceivedMessage& received);

}  // namespace wardcase::supervisor
