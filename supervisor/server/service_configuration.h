// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <optional>
#include <string>

#include "supervisor/server/gate.h"
#include "supervisor/server/quotas.h"
#include "supervisor/server/service_policies.h"

namespace wardcase::supervisor {

// All that the service reads from files, and may read again: policies, languages, who may come in,
// and quotas. It is exchanged as a whole, or not at all: files that can't be used leave what was
// read before.
class ServiceConfiguration {
 public:
  // `token_file`: see Gate::read().
  static sys::Result<ServiceConfiguration> read(ServicePolicies policies,
                                                std::optional<std::string> token_file);

  // False: warning() says why, and all is as it was.
  [[nodiscard]] bool reload();
  // What of the files can't be used, by which nothing was exchanged; "": nothing.
  [[nodiscard]] const std::string& warning() const { return warning_; }

  [[nodiscard]] const ServicePolicies& policies() const { return policies_; }
  [[nodiscard]] const Gate& gate() const { return gate_; }
  [[nodiscard]] const QuotaTable& quotas() const { return quotas_; }

 private:
  ServiceConfiguration(ServicePolicies policies, Gate gate, QuotaTable quotas)
      : policies_(std::move(policies)), gate_(std::move(gate)), quotas_(std::move(quotas)) {}

  std::optional<std::string> token_file_;  // from the beginning to the end
  ServicePolicies policies_;
  Gate gate_;
  QuotaTable quotas_;
  std::string warning_;
};

}  // namespace wardcase::supervisor
