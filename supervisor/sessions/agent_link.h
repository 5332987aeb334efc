// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"
#include "supervisor/agent/agent_messages.h"
#include "supervisor/run/event_loop.h"

namespace wardcase::supervisor {

// The supervisor's end of what it and the agent in a box say to each other
// (agent/agent_protocol.h). Whoever lives in the box could speak in the agent's place: what comes
// is believed as far as the box's own workers are concerned, and no further.
class AgentLink {
 public:
  struct Events {
    std::function<void(const agent::Started&)> on_started;
    std::function<void(const agent::Ended&)> on_ended;
    std::function<void()> on_signalled;  // no signal is under way any more
    std::function<void(const agent::EveryoneGone&)> on_everyone_gone;
    // The agent has gone or makes no sense; told once, and the box is of no use any more.
    std::function<void(const std::string& why)> on_closed;
  };

  AgentLink(EventLoop& loop, Events events) : loop_(loop), events_(std::move(events)) {}
  AgentLink(const AgentLink&) = delete;
  AgentLink& operator=(const AgentLink&) = delete;
  ~AgentLink() { close(); }

  // Makes the socket; the result is the agent's end (RunSpec::channel).
  [[nodiscard]] sys::Result<sys::UniqueFd> open();
  // Starts a worker whose descriptors 0 to 3 become these. Answered by on_started.
  [[nodiscard]] sys::Status start(const agent::StartRequest& request,
                                  const std::array<int, agent::kStartDescriptors>& descriptors);
  // Fails only where the agent takes nothing any more.
  [[nodiscard]] sys::Status signal(std::uint32_t id, int signo, agent::Whom whom);
  // A signal may still arrive, and would hit whatever has been begun meanwhile.
  [[nodiscard]] bool is_signalling() const { return signals_under_way_ > 0 || settling_ != 0; }
  void close();

 private:
  void on_readable();
  void on_message(const agent::FromAgent& message);
  void on_signalled();
  void fail(const std::string& why);

  EventLoop& loop_;
  Events events_;
  sys::UniqueFd socket_;
  int signals_under_way_ = 0;
  EventLoop::TimerId settling_ = 0;
};

}  // namespace wardcase::supervisor
