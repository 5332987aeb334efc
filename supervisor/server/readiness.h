// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "supervisor/run/event_loop.h"
#include "supervisor/run/host.h"
#include "supervisor/server/run_queue.h"
#include "supervisor/server/service_configuration.h"

namespace wardcase::supervisor {

// Whether this host can run anything by its default policy: a rehearsal of a run tells. It
// is made at the start, and again while it fails.
class Readiness : private RunObserver {
 public:
  Readiness(EventLoop& loop, Host& host, const ServiceConfiguration& configuration, StartRun start);
  ~Readiness() override;

  // Begins; `known` is called once, in a later turn, when the first answer is there.
  void look(std::function<void()> known);
  // A run could not be set up: what was found may not hold any more.
  void doubt();
  // What can't be used, but is not needed either; "": nothing.
  [[nodiscard]] const std::string& warning() const { return configuration_.warning(); }
  // "" when it can; before the first answer it can't.
  [[nodiscard]] const std::string& why_not() const { return why_not_; }

 private:
  void rehearse();
  void conclude(std::string why_not);
  void on_start(std::string_view) override {}
  void on_output(Stream, std::string_view) override {}
  void on_end(const RunRecord& record) override;

  EventLoop& loop_;
  Host& host_;
  const ServiceConfiguration& configuration_;
  StartRun start_;
  std::function<void()> known_;
  std::shared_ptr<StartedRun> rehearsal_;
  std::string why_not_ = "this host was not looked at yet";
  EventLoop::TimerId timer_ = 0;
};

}  // namespace wardcase::supervisor
