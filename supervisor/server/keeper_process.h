// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>

#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"
#include "supervisor/run/event_loop.h"

namespace wardcase::supervisor {

// `wardcase-server session-keep`, until the session that it makes can be used. The keeper lives on
// when this process has ended; with one that is killed before that it ends.
class KeeperProcess {
 public:
  // `why_not`: "", or what the process has said of why there is no session.
  using Made = std::function<void(const std::string& why_not)>;

  // `made` is called once, in a later turn, and may not destroy this.
  KeeperProcess(EventLoop& loop, Made made) : loop_(loop), made_(std::move(made)) {}
  KeeperProcess(const KeeperProcess&) = delete;
  KeeperProcess& operator=(const KeeperProcess&) = delete;
  ~KeeperProcess();

  [[nodiscard]] sys::Status start(const std::string& id, const std::string& socket,
                                  std::string_view request);

 private:
  void on_end();

  EventLoop& loop_;
  Made made_;
  pid_t process_ = -1;
  sys::UniqueFd pidfd_;
  sys::UniqueFd output_;
};

}  // namespace wardcase::supervisor
