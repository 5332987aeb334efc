// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "supervisor/server/keeper_link.h"
#include "supervisor/server/known_run.h"
#include "supervisor/server/known_session.h"
#include "supervisor/server/run_request.h"

namespace wardcase::supervisor {

// A program that a session's keeper has been asked to run, as the work of a run that is known.
class SessionProgram : public OtherWork {
 public:
  // `over` is called once it has ended.
  SessionProgram(EventLoop& loop, KnownRun& run, std::shared_ptr<std::size_t> count,
                 std::function<void()> over);
  ~SessionProgram() override;

  // Asks for it under that id of a run; `asked` gives up what the program is made of.
  [[nodiscard]] sys::Status start(const KnownSession& session, const std::string& id,
                                  RunRequest asked);

  // As by Ctrl-C: an interpreter goes on with its variables, if it lets itself be interrupted.
  void stop() override;
  void set_paused(bool is_paused) override { link_.set_paused(is_paused); }

 private:
  void on_part(char kind, std::string_view bytes);
  void on_last(const boost::json::object* last);
  void send_files();
  void send_input();
  void end_count();

  KnownRun& run_;
  std::shared_ptr<std::size_t> count_;
  std::function<void()> over_;
  KeeperLink link_;
  RunRecord outline_;
  // What is still to be sent, from the front of the last file, or of the input.
  std::vector<RunRequest::File> files_;
  std::optional<std::string> input_;
  std::size_t sent_ = 0;
  bool may_send_files_ = false;
};

}  // namespace wardcase::supervisor
