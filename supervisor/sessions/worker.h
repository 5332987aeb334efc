// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/run/output_pump.h"
#include "supervisor/run/run.h"
#include "supervisor/sessions/agent_link.h"
#include "supervisor/sessions/frame_channel.h"
#include "supervisor/sessions/interpreters.h"
#include "supervisor/sessions/stdin_gate.h"
#include "supervisor/sessions/worker_messages.h"

namespace wardcase::supervisor {

// How an interpreter ended.
struct WorkerEnd {
  int error = 0;  // not 0: it could not be executed (errno)
  std::optional<int> exit_code;
  std::optional<int> signal;
};

// A live interpreter in a box: its pipes, its private channel, and what it says there.
class Worker {
 public:
  struct Events {
    std::function<void()> on_ready;  // it waits for code; once
    std::function<void()> on_added;  // it took what add_path() told it
    // The program runs: from here on an interrupt is one of it.
    std::function<void(const std::string& id)> on_begun;
    std::function<void(Stream stream, std::string_view bytes)> on_output;
    std::function<void(WorkerDone done)> on_done;
    // It has left its channel, as at its end, or said there what makes no sense: it is of no use
    // any more, and is to be ended. Its end is told all the same. `why`: "" where it left.
    std::function<void(const std::string& why)> on_broken;
  };

  Worker(EventLoop& loop, std::uint32_t id, Events events);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Asks the agent to start it; `owner` becomes the owner of its pipes.
  [[nodiscard]] sys::Status start(AgentLink& agent, const LiveInterpreter& interpreter,
                                  const std::vector<std::string>& environment,
                                  const BoxUser& owner);
  [[nodiscard]] std::uint32_t id() const { return id_; }
  [[nodiscard]] bool is_ready() const { return is_ready_; }
  [[nodiscard]] const std::string& version() const { return version_; }

  // Tells it of more modules, of a language that has any; it takes nothing else before on_added.
  void add_path(std::string_view place) { channel_.send(path_message(place)); }
  // Hands it code. What it says at its end must have `nonce`, which it reads only then.
  void execute(Handling handling, std::string_view id, std::string_view name, std::string_view code,
               std::string_view nonce);
  [[nodiscard]] StdinGate& input() { return input_; }
  void pause_output(bool paused);
  // Hands on all that it has written and that is in its pipes now.
  void drain();

 private:
  [[nodiscard]] sys::Result<sys::UniqueFd> make_output(Stream stream, const BoxUser& owner);
  [[nodiscard]] sys::Result<sys::UniqueFd> make_channel();
  void on_frame(std::string_view frame);

  std::uint32_t id_;
  Events events_;
  StdinGate input_;
  OutputPump out_;
  OutputPump err_;
  FrameChannel channel_;
  Dialect dialect_ = Dialect::frames;
  bool is_ready_ = false;
  std::string version_;
};

}  // namespace wardcase::supervisor
