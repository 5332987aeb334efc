// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "supervisor/config/config.h"
#include "supervisor/languages/job.h"
#include "supervisor/run/host.h"
#include "supervisor/run/run_record.h"
#include "supervisor/server/host_files.h"
#include "supervisor/server/problem.h"
#include "supervisor/server/run_request.h"
#include "supervisor/server/service_policies.h"

namespace wardcase::supervisor {

// What a request asks for, settled as the command line settles its flags: by the
// configuration of this host, its policies and their maxima.
struct RequestedRun {
  Job job;
  std::optional<RunRecord> refusal;  // nothing can be run, and this is its record
};
[[nodiscard]] tl::expected<RequestedRun, Problem> settle_request(const RunRequest& request,
                                                                 const ServicePolicies& policies,
                                                                 const Host& host,
                                                                 const HandedFiles& handed = {});

// What a session's box is made of, and what its programs are held to.
struct RequestedBox {
  Configuration configuration;
  policies::Limits limits;  // not resolved
  std::vector<policies::Mount> mounts;
  policies::Network network = policies::Network::none;
  std::vector<std::string> environment;  // "NAME=VALUE"
};
[[nodiscard]] tl::expected<RequestedBox, Problem> settle_box(const RunRequest& request,
                                                             const ServicePolicies& policies,
                                                             const Host& host);

// The limits of a request that asks for none, with their maxima.
[[nodiscard]] tl::expected<policies::Limits, Problem> limits_of_service(
    const ServicePolicies& policies, const Host& host);

}  // namespace wardcase::supervisor
