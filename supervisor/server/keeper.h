// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "policies/limits.h"
#include "supervisor/server/listener.h"
#include "supervisor/sessions/session.h"
#include "supervisor/sessions/session_log.h"

namespace wardcase::supervisor {

class KeeperClient;

// What the keeper of one session is told at its start.
struct KeeperOptions {
  policies::Limits limits;  // of programs, with their maxima; not yet resolved
  std::chrono::milliseconds ttl{0};
  std::chrono::milliseconds idle_ttl{0};  // 0: none
};

// Holds one session for the command line: answers on its socket, and ends it when its time is
// over, when it is told to, or when its socket has gone with the user's runtime directory.
class Keeper : private ExecObserver {
 public:
  Keeper(EventLoop& loop, Host& host, Listener listener, SessionSpec spec, KeeperOptions options);
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;
  ~Keeper() override;

  // Takes clients from here on; the loop is stopped when the session has ended.
  [[nodiscard]] sys::Status open();
  void close();

  [[nodiscard]] Session& session() { return session_; }
  [[nodiscard]] SessionLog& log() { return log_; }
  [[nodiscard]] EventLoop& loop() { return loop_; }
  [[nodiscard]] const KeeperOptions& options() const { return options_; }
  [[nodiscard]] std::size_t cpus() const { return host_.cpus().size(); }
  // Somebody uses the session.
  void touch() { last_used_ = Clock::now(); }
  // From now on, it lives so long.
  void extend(std::chrono::milliseconds ttl);
  [[nodiscard]] Clock::time_point expires_at() const { return expires_at_; }
  [[nodiscard]] Clock::time_point created_at() const { return created_at_; }
  // It has said all; its own call may be under way.
  void forget(KeeperClient& client);

  // Queues it for a client, who may leave it while it goes on.
  [[nodiscard]] sys::Result<std::string> exec(ExecRequest request, KeeperClient* client);
  // The client does not listen any more.
  void leave(std::string_view exec_id) { listeners_.erase(std::string(exec_id)); }

 private:
  void on_start(std::string_view id) override;
  void on_output(Stream stream, std::string_view bytes) override;
  void on_waiting_for_input() override;
  void on_end(const RunRecord& record) override;

  void accept();
  void look_around();
  void on_closed();
  void end_when_told(Clock::time_point latest);
  [[nodiscard]] KeeperClient* listener_of(const std::string& id);

  EventLoop& loop_;
  Host& host_;
  Listener listener_;
  std::string socket_path_;
  KeeperOptions options_;
  SessionLog log_;
  Session session_;
  Clock::time_point created_at_ = Clock::now();
  Clock::time_point expires_at_;
  Clock::time_point last_used_ = Clock::now();
  EventLoop::TimerId timer_ = 0;
  std::string running_;
  std::map<std::string, KeeperClient*> listeners_;  // by the id of what they asked for
  std::map<KeeperClient*, std::unique_ptr<KeeperClient>> clients_;
};

}  // namespace wardcase::supervisor
