// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/session_spec.h"

#include <utility>

#include "supervisor/server/request_field.h"
#include "supervisor/server/request_spec.h"
#include "supervisor/sessions/interpreters.h"

namespace wardcase::supervisor {

namespace {

Read settle_language(const RunRequest& request, SessionOptions& options) {
  if (!request.language) return {};
  const policies::Language* const language =
      options.box.configuration.languages.find(*request.language);
  if (language == nullptr || !live_interpreter(*language)) {
    return invalid("language", shown(*request.language) +
                                   ": its interpreter can't live on; write python, javascript or "
                                   "bash");
  }
  options.language = language->name;
  return {};
}

Read settle_confinement(const RunRequest& request, const policies::Policy& policy) {
  if (policy.confinement->value == policies::Confinement::namespaces) return {};
  Problem problem = {422, "policy_refused",
                     "policy: '" + policy.name->value +
                         "' makes boxes without namespaces, in which nothing lives on"};
  if (request.policy) problem.field = "policy";
  return tl::unexpected(std::move(problem));
}

Read settle_preludes(const RunRequest& request, SessionOptions& options) {
  ProgramSource asked;
  asked.prelude_text = request.prelude;
  auto preludes = read_session_preludes(asked, options.box.configuration, options.language);
  if (!preludes) return invalid("prelude", preludes.error().message());
  options.preludes = *std::move(preludes);
  return {};
}

Read settle_requirements(const RunRequest& request, SessionOptions& options) {
  AskedRequirements asked;
  asked.words = request.requirements;
  auto needed = collect_requirements(asked, installer_of(options.language), "", "");
  if (!needed) return invalid("requirements", needed.error().message());
  options.requirements = *std::move(needed);
  return {};
}

}  // namespace

tl::expected<SessionOptions, Problem> settle_session(const RunRequest& request,
                                                     const ServicePolicies& policies,
                                                     const Host& host) {
  auto box = settle_box(request, policies, host);
  if (!box) return tl::unexpected(std::move(box).error());
  SessionOptions options;
  options.id = request.id.value_or("");
  options.ttl = request.ttl;
  options.idle_ttl = request.idle_ttl;
  options.box.configuration = std::move(box->configuration);
  options.box.limits = box->limits;
  options.box.mounts = std::move(box->mounts);
  options.box.network = box->network;
  options.box.environment = std::move(box->environment);
  const auto settled = settle_confinement(request, options.box.configuration.policy)
                           .and_then([&] { return settle_language(request, options); })
                           .and_then([&] { return settle_preludes(request, options); })
                           .and_then([&] { return settle_requirements(request, options); });
  if (!settled) return tl::unexpected(settled.error());
  return options;
}

}  // namespace wardcase::supervisor
