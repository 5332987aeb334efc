// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/session_keep.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <memory>
#include <tl/expected.hpp>
#include <utility>

#include "supervisor/cli/console.h"
#include "supervisor/languages/stage_box.h"
#include "supervisor/run/host.h"
#include "supervisor/server/keeper_start.h"
#include "supervisor/server/problem.h"
#include "supervisor/server/run_request.h"
#include "supervisor/server/session_spec.h"

namespace wardcase::supervisor {

namespace {

constexpr int kFailed = 125;

using Kept = tl::expected<void, Problem>;

// The service has looked at the request already; what is found here is news of the host.
Kept keep(const std::string& id, const std::string& socket) {
  const auto body = read_source(STDIN_FILENO, "the request");
  if (!body) return tl::unexpected(Problem{500, "session_failed", body.error().message()});
  const auto request = parse_run_request(*body, RequestKind::session);
  if (!request) return tl::unexpected(request.error());
  const auto policies = ServicePolicies::read();
  if (!policies) return tl::unexpected(Problem{500, "configuration", policies.error().message()});
  auto settled = settle_session(*request, *policies, Host());
  if (!settled) return tl::unexpected(std::move(settled).error());
  settled->id = id;
  const bool has_requirements = !settled->requirements.empty();
  const auto options = std::make_shared<const SessionOptions>(*std::move(settled));
  const auto started = start_keeper(options, socket);
  if (started) return {};
  if (!has_requirements) {
    return tl::unexpected(Problem{503, "session_failed", started.error().message()});
  }
  return tl::unexpected(Problem{422, "install_failed", started.error().message(), "requirements"});
}

}  // namespace

int session_keep(const std::string& id, const std::string& socket) {
  (void)::prctl(PR_SET_NAME, "wardcase-keeper");  // else ps(1) calls it exe, as we were started
  const auto kept = keep(id, socket);
  if (kept) return 0;
  (void)write_all(STDOUT_FILENO, to_response(kept.error()).body);
  return kFailed;
}

}  // namespace wardcase::supervisor
