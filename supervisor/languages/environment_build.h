// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "supervisor/languages/content_cache.h"
#include "supervisor/languages/environment.h"
#include "supervisor/languages/install_proxy.h"
#include "supervisor/languages/job.h"
#include "supervisor/languages/job_run.h"

namespace wardcase::supervisor {

// What became of a request for an environment.
struct EnvironmentOutcome {
  // Where it failed: install_failed, stopped, or setup_failed where we are at fault.
  std::optional<PartFailure> failure;
  // Of the installation; `cached` where the environment was there. Without a value nothing was
  // begun.
  std::optional<StageRecord> record;
  std::string directory;  // what show_environment() shows
  CacheEntry entry;       // keeps it from being collected while it is in use
};

// Finds an environment in the cache, or makes it, once for all who ask for it at the same time.
// Not part of a job: sessions add to what they have by it, too.
class EnvironmentBuild {
 public:
  using Done = std::function<void(EnvironmentOutcome outcome)>;

  EnvironmentBuild(EventLoop& loop, Host& host) : loop_(loop), host_(host) {}
  EnvironmentBuild(const EnvironmentBuild&) = delete;
  EnvironmentBuild& operator=(const EnvironmentBuild&) = delete;

  // `done` is called once, in this turn of the loop or in a later one, and may not destroy this.
  void start(EnvironmentRequest request, Done done);
  // It is to end soon, as `stopped`; a second time: without patience. Fine at any time.
  void stop(int signal);

 private:
  void on_answer(sys::Result<CacheAnswer> answer);
  void use(CacheEntry entry, std::optional<StageRecord> record);
  void install();
  void on_installed(const RunRecord& record);
  void clean();
  void finish_install();
  [[nodiscard]] PartFailure why_failed(const RunRecord& record) const;
  void fail(PartFailure failure);
  void fail_setup(const sys::Error& error);
  void end(EnvironmentOutcome outcome);

  EventLoop& loop_;
  Host& host_;
  EnvironmentRequest request_;
  Done done_;
  std::unique_ptr<CacheClaim> claim_;
  std::optional<CacheBuild> build_;
  std::unique_ptr<InstallProxy> proxy_;
  std::unique_ptr<StageRun> stage_;
  std::optional<StageRecord> record_;
};

}  // namespace wardcase::supervisor
