// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <tl/expected.hpp>

#include "supervisor/cli/session_options.h"
#include "supervisor/run/host.h"
#include "supervisor/server/problem.h"
#include "supervisor/server/run_request.h"
#include "supervisor/server/service_policies.h"

namespace wardcase::supervisor {

// The session that a request asks for, settled as settle_request() does a run. Its id is to be set
// where the request has none.
[[nodiscard]] tl::expected<SessionOptions, Problem> settle_session(const RunRequest& request,
                                                                   const ServicePolicies& policies,
                                                                   const Host& host);

}  // namespace wardcase::supervisor
