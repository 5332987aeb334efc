// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sandbox/sys/unique_fd.h"
#include "supervisor/run/event_stream.h"
#include "supervisor/server/box_archive.h"
#include "supervisor/sessions/box_files.h"
#include "supervisor/sessions/frame_channel.h"
#include "supervisor/sessions/keeper_request.h"
#include "supervisor/sessions/session.h"

namespace wardcase::supervisor {

class Keeper;

// Whoever asks one thing of a session (sessions/keeper_protocol.h).
class KeeperClient : private ExecObserver {
 public:
  explicit KeeperClient(Keeper& keeper);
  KeeperClient(const KeeperClient&) = delete;
  KeeperClient& operator=(const KeeperClient&) = delete;
  ~KeeperClient() override;

  [[nodiscard]] sys::Status open(sys::UniqueFd socket);
  // Nothing of the session exists any more.
  void on_session_closed();
  // Whether it has taken all that it was told.
  [[nodiscard]] bool is_up_to_date() const { return channel_.waiting() == 0; }

  // Of the program that it asked for.
  void on_start(std::string_view id) override;
  void on_output(Stream stream, std::string_view bytes) override;
  void on_waiting_for_input() override;
  void on_end(const RunRecord& record) override;

 private:
  void on_frame(std::string_view frame);
  void on_gone();
  void begin(KeeperRequest request);
  void begin_exec(KeeperRequest request);
  void command(const KeeperRequest& request);
  void begin_delivery();
  void receive_delivery(std::string_view bytes);
  void receive_file(std::string_view bytes);
  void remove(const std::string& path);
  void send_file(const std::string& path);
  void tell_head();
  void begin_range(const KeeperRequest& request);
  void send_more_of_file();
  void list(const std::string& path);
  void send_archive(const std::string& path);
  void send_more_of_archive();
  void receive_archive(std::string_view bytes);
  void read_archive();
  void tell_logs(const KeeperRequest& request);
  void tell_state();
  void hand_back();
  void check_idle();
  void fail(const sys::Error& error, std::string_view field = "");
  // The last frame; `members` are those of its JSON object beside the error, with their comma.
  void finish(const std::string& error, const std::string& members = "");
  [[nodiscard]] static std::string outline_of(const RunRecord& record);
  [[nodiscard]] static std::string member(std::string_view key, const boost::json::value& value);
  void send(char kind, std::string_view bytes);

  Keeper& keeper_;
  FrameChannel channel_;
  std::optional<KeeperRequest> request_;
  bool is_finished_ = false;
  // exec
  std::string exec_id_;
  std::optional<EventStream> events_;
  bool is_paused_ = false;
  EventLoop::TimerId yield_timer_ = 0;
  EventLoop::TimerId idle_timer_ = 0;
  // logs
  std::uint64_t follower_ = 0;
  // files
  sys::UniqueFd file_;               // that is read
  std::uint64_t left_ = UINT64_MAX;  // of it, to be sent
  bool awaits_range_ = false;
  std::optional<NewBoxFile> new_file_;  // that is written
  std::unique_ptr<BoxArchiveMaker> maker_;
  std::unique_ptr<BoxArchiveReader> reader_;
  std::unique_ptr<BoxDelivery> delivery_;                       // of a program's files
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for what calls back late
};

}  // namespace wardcase::supervisor
