// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"
#include "supervisor/run/event_loop.h"

namespace wardcase::supervisor {

// The JSON of one of our own commands that looks at the host, which takes longer than the loop may
// stand: another process of ours makes it. Those who ask meanwhile get the same one, as do those
// who come shortly after.
class OwnReport {
 public:
  using Told = std::function<void(const sys::Result<std::string>& report)>;

  OwnReport(EventLoop& loop, std::string verb);
  OwnReport(const OwnReport&) = delete;
  OwnReport& operator=(const OwnReport&) = delete;
  ~OwnReport();

  // `told` is called once, perhaps at once, unless what is returned is forgotten before that.
  std::uint64_t ask(Told told);
  void forget(std::uint64_t asker) { askers_.erase(asker); }

 private:
  [[nodiscard]] sys::Status start();
  void on_readable();
  void conclude(const sys::Result<std::string>& report);
  void end_process();

  EventLoop& loop_;
  std::string verb_;
  sys::UniqueFd output_;
  pid_t process_ = -1;
  std::string text_;
  std::string report_;  // the last good one
  Clock::time_point made_at_;
  EventLoop::TimerId deadline_ = 0;
  std::uint64_t next_ = 1;
  std::map<std::uint64_t, Told> askers_;
};

}  // namespace wardcase::supervisor
