// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <boost/json/object.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/unique_fd.h"
#include "supervisor/agent/agent_messages.h"

namespace wardcase::test {

// A bound for what hangs, and never a measure.
inline constexpr std::chrono::seconds kAgentPatience{30};

// The agent as an ordinary process, and this one as its supervisor.
class LiveAgent {
 public:
  // With `arguments` behind its name.
  explicit LiveAgent(const std::vector<std::string>& arguments = {});
  LiveAgent(const LiveAgent&) = delete;
  LiveAgent& operator=(const LiveAgent&) = delete;
  ~LiveAgent();  // closes the socket, and waits

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] int control() const { return control_.get(); }
  void hang_up() { control_.reset(); }
  void send(const agent::StartRequest& request, const std::vector<int>& descriptors);
  void signal(std::uint32_t id, int signo, agent::Whom whom) const;
  // The same for a worker, until the agent has done it.
  void signal_now(std::uint32_t id, int signo, agent::Whom whom) const;
  // Kind 0: nothing came.
  [[nodiscard]] agent::FromAgent receive(std::chrono::milliseconds patience = kAgentPatience) const;
  // How it ended, as waitpid(2) has it.
  [[nodiscard]] std::optional<int> wait();

 private:
  pid_t pid_ = -1;
  sys::UniqueFd control_;
};

// A program that an agent started, and our ends of its four descriptors.
class LiveProgram {
 public:
  LiveProgram(LiveAgent& agent, std::uint32_t id, const std::vector<std::string>& arguments,
              const std::vector<std::string>& environment, const std::string& directory = "/");

  [[nodiscard]] const agent::Started& started() const { return started_; }
  [[nodiscard]] std::uint32_t id() const { return id_; }
  [[nodiscard]] pid_t pid() const { return started_.pid; }
  // What it printed since the last look, without waiting.
  [[nodiscard]] std::string out() const;
  [[nodiscard]] std::string err() const;
  // Until `text` is in what it prints; returns all of that, and what it has when patience ends.
  [[nodiscard]] std::string out_until(std::string_view text) const;
  void type(std::string_view text) const;
  void close_stdin() { in_.reset(); }
  [[nodiscard]] int channel() const { return channel_.get(); }

 protected:
  LiveAgent& agent_;

 private:
  std::uint32_t id_;
  agent::Started started_ = {};
  sys::UniqueFd in_;
  sys::UniqueFd out_;
  sys::UniqueFd err_;
  sys::UniqueFd channel_;
};

// The environment that such programs get.
[[nodiscard]] std::vector<std::string> worker_environment();

// A worker of one language, in a directory of its own. Says what it is sent, and what it said.
class LiveWorker : public LiveProgram {
 public:
  enum class Language : std::uint8_t { python, node, bash };
  LiveWorker(LiveAgent& agent, Language language, const std::string& directory,
             const std::vector<std::string>& more_environment = {});

  // Runs the code, and returns what the worker says of it: empty, if nothing.
  boost::json::object run(std::string_view code);
  // The same in two steps. `nonce`: what is to come back.
  void begin(std::string_view code);
  [[nodiscard]] boost::json::object answer();
  void send(const boost::json::object& message) const;
  void send_text(std::string_view text) const;
  void interrupt() const { agent_.signal_now(id(), SIGINT, agent::Whom::group); }
  [[nodiscard]] std::string nonce() const { return "nonce-" + std::to_string(count_); }
  [[nodiscard]] const boost::json::object& ready() const { return ready_; }

 private:
  Language language_;
  int count_ = 0;
  boost::json::object ready_;
};

// Of /proc/PID/status, in KiB; 0: there is no such process.
[[nodiscard]] std::uint64_t resident_kib(pid_t pid);

}  // namespace wardcase::test
