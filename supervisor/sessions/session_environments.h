// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/languages/environment_build.h"
#include "supervisor/languages/requirement.h"
#include "supervisor/run/run.h"

namespace wardcase::supervisor {

// What programs of a session had installed: environments of the cache, each beside those before
// it, which its box is shown while it lives. None changes what an earlier one has.
class SessionEnvironments {
 public:
  using Done =
      std::function<void(std::optional<PartFailure> failure, std::optional<StageRecord> record)>;

  SessionEnvironments(EventLoop& loop, Host& host) : loop_(loop), host_(host) {}
  SessionEnvironments(const SessionEnvironments&) = delete;
  SessionEnvironments& operator=(const SessionEnvironments&) = delete;

  [[nodiscard]] bool has_all(policies::Installer installer,
                             const std::vector<Requirement>& requirements) const;
  // Has installed what `request` asks for and is not there, for a box of this kind. `done` is
  // called once, in this turn of the loop or in a later one; nothing may be added before.
  void add(EnvironmentRequest request, const RunSpec& box, Done done);
  [[nodiscard]] bool is_adding() const { return build_ != nullptr; }
  // What is being added is to end soon, as `stopped`; a second time: without patience.
  void stop(int signal);

  // There is a new box, which was shown nothing yet.
  void forget_box() { shown_ = 0; }
  [[nodiscard]] sys::Status show_in(Run& box);
  // Where they are in the box, in their order, as interpreters are told (agent/README.md).
  [[nodiscard]] std::vector<std::string> places(policies::Installer installer) const;

 private:
  struct Environment {
    policies::Installer installer;
    std::vector<Requirement> requirements;  // that it was made for
    std::string directory;                  // on the host
    std::string place;                      // as interpreters are told
    CacheEntry entry;                       // in use as long as the session lives
  };

  [[nodiscard]] bool has(policies::Installer installer, const Requirement& requirement) const;
  [[nodiscard]] std::string next_place(policies::Installer installer) const;
  void on_outcome(const EnvironmentRequest& request, EnvironmentOutcome outcome, const Done& done);
  [[nodiscard]] std::string find_conflict(const EnvironmentRequest& request,
                                          const std::string& directory) const;

  EventLoop& loop_;
  Host& host_;
  std::vector<Environment> environments_;
  std::unique_ptr<EnvironmentBuild> build_;
  std::size_t shown_ = 0;  // so many of them, in the present box
};

}  // namespace wardcase::supervisor
