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

// What somebody asked to have installed for a program.
struct RequirementSource {
  std::vector<std::string> words;  // one requirement each
  std::vector<std::string> files;  // of the host: requirements.txt or package.json
};

// All that a program needs: what was asked for, and what its own head names, where it is Python
// (PEP 723; `program` is a descriptor, -1: there is none). Errors name what is wrong.
[[nodiscard]] sys::Result<std::vector<Requirement>> collect_requirements(
    const RequirementSource& asked, std::optional<policies::Installer> installer, int program,
    const std::string& name);

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
