// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/service_configuration.h"

#include <utility>

namespace wardcase::supervisor {

sys::Result<ServiceConfiguration> ServiceConfiguration::read(
    ServicePolicies policies, std::optional<std::string> token_file) {
  const policies::ServiceSettings& settings = policies.standard().policy.service;
  auto gate = Gate::read(settings, token_file);
  if (!gate) return tl::unexpected(std::move(gate).error());
  auto quotas = QuotaTable::read(settings);
  if (!quotas) return tl::unexpected(std::move(quotas).error());
  std::string warning = policies.trouble();
  ServiceConfiguration made(std::move(policies), *std::move(gate), *std::move(quotas));
  made.token_file_ = std::move(token_file);
  made.warning_ = std::move(warning);
  return made;
}

bool ServiceConfiguration::reload() {
  auto policies = ServicePolicies::read();
  auto read = policies ? ServiceConfiguration::read(*std::move(policies), token_file_)
                       : tl::unexpected(std::move(policies).error());
  if (read && read->warning_.empty()) {
    *this = *std::move(read);
    return true;
  }
  warning_ = read ? read->warning_ : read.error().message();
  return false;
}

}  // namespace wardcase::supervisor
