// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/config/run_settings.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "supervisor/config/mounts.h"

namespace wardcase::supervisor {

sys::Status take_limit_variables(policies::Limits& limits,
                                 const std::function<void(const policies::LimitRow&)>& taken) {
  for (const policies::LimitRow& row : policies::limit_table()) {
    const std::string variable(row.environment);
    const char* text = variable.empty() ? nullptr : std::getenv(variable.c_str());
    if (text == nullptr || *text == '\0') continue;
    auto value = policies::parse_default(row, variable, text);
    if (!value) return tl::unexpected(std::move(value).error());
    limits.set_default(row.id, *value);
    taken(row);
  }
  return {};
}

std::vector<std::string> policy_environment(const policies::Policy& policy) {
  std::vector<std::string> environment;
  for (const auto& variable : policy.environment) {
    environment.push_back(variable.value.name + "=" + variable.value.value);
  }
  return environment;
}

sys::Status add_policy_mounts(const policies::Policy& policy,
                              std::vector<policies::Mount>& mounts) {
  for (const auto& [mount, origin] : policy.mounts) {
    auto checked = check_mount(mount);
    if (!checked) return tl::unexpected(std::move(checked).error().while_doing(origin));
    if (std::ranges::find(mounts, checked->target, &policies::Mount::target) == mounts.end()) {
      mounts.push_back(*std::move(checked));
    }
  }
  return {};
}

sys::Status check_network(const policies::Policy& policy, policies::Network network) {
  const auto& allowed = policy.allowed_networks->value;
  if (std::ranges::find(allowed, network) != allowed.end()) return {};
  return tl::unexpected(sys::plain_error("the policy '" + policy.name->value +
                                         "' does not allow it (network.allowed, " +
                                         policy.allowed_networks->origin + ")"));
}

}  // namespace wardcase::supervisor
