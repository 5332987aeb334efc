// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/languages/environment_build.h"
#include "supervisor/languages/job.h"
#include "supervisor/languages/requirement.h"

namespace wardcase::supervisor {

// Has the requirements there before the program runs, and shows them to it.
class InstallPart : public JobPart {
 public:
  InstallPart(policies::Installer installer, std::vector<Requirement> requirements,
              const policies::Policy& policy);

  void before(EventLoop& loop, Host& host, RunSpec& program, StageNotes& notes, Done done) override;
  void stop(int signal) override;

 private:
  void on_outcome(EnvironmentOutcome outcome, RunSpec& program, StageNotes& notes,
                  const Done& done);

  EnvironmentRequest request_;
  std::unique_ptr<EnvironmentBuild> build_;
  CacheEntry entry_;  // in use until the program is over
};

}  // namespace wardcase::supervisor
