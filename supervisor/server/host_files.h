// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <tl/expected.hpp>

#include "policies/policy.h"
#include "sandbox/sys/unique_fd.h"
#include "supervisor/run/run_spec.h"
#include "supervisor/server/problem.h"
#include "supervisor/server/run_request.h"

namespace wardcase::supervisor {

// Descriptors that came with a request, and who handed them over.
struct HandedFiles {
  std::span<const sys::UniqueFd> descriptors = {};
  std::optional<uid_t> giver = std::nullopt;
};

// Adds the request's binds to the mounts. A path has to lie below a root of the policy: it is
// opened from there, by our own rights, and leads through no link. A descriptor has to be a
// directory or a file of the giver's own that he could open: who may write in `/` as nobody gets
// nothing by handing it to us. The box gets what was opened here, whatever its path means later.
[[nodiscard]] tl::expected<void, Problem> place_binds(const RunRequest& request,
                                                      const HandedFiles& handed,
                                                      const policies::Policy& policy,
                                                      RunSpec& spec);

// The content of a file that was handed over: a regular one that is open for reading.
[[nodiscard]] tl::expected<sys::UniqueFd, Problem> handed_content(const RunRequest::File& file,
                                                                  const HandedFiles& handed);

}  // namespace wardcase::supervisor
