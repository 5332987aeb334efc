// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/service_policies.h"

#include <utility>

namespace wardcase::supervisor {

sys::Result<ServicePolicies> ServicePolicies::read() {
  ConfigPlaces places = config_places();
  places.project.clear();
  auto standard = load_configuration(places, policy_variable());
  if (!standard) return tl::unexpected(std::move(standard).error());
  ServicePolicies policies;
  policies.standard_ = std::make_shared<const Configuration>(*std::move(standard));
  policies.list_ = list_policies(places);
  for (const ListedPolicy& listed : policies.list_) {
    policies.by_name_.emplace(listed.name, load_configuration(places, listed.name));
  }
  return policies;
}

const sys::Result<Configuration>* ServicePolicies::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &found->second;
}

std::string ServicePolicies::trouble() const {
  for (const auto& [name, configuration] : by_name_) {
    if (!configuration) return configuration.error().message();
  }
  return "";
}

}  // namespace wardcase::supervisor
