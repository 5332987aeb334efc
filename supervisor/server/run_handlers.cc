// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/run_handlers.h"

#include <utility>

#include "policies/units.h"
#include "supervisor/server/request_spec.h"
#include "supervisor/server/run_answers.h"
#include "supervisor/server/work_request.h"

namespace wardcase::supervisor {

void RunHandlers::begin(const ApiCall& call) {
  if (is_draining_) return call.refuse(draining());
  auto asking = read_asking(call);
  if (!asking) return call.refuse(asking.error());
  const auto asked = parse_run_request(call.request.body);
  if (!asked) return call.refuse(asked.error());
  asking->terms.most = quotas_.most_of(call.caller);
  asking->terms.form = asked->form;
  asking->terms.deadline = asked->deadline;
  asking->terms.is_detached = asked->is_detached || asking->is_async;
  const auto run = make_run(*asked, call, std::move(asking->terms));
  if (!run) return call.refuse(run.error());
  answer(**run, asking->kind, asking->is_async, call.exchange);
}

tl::expected<KnownWork*, Problem> RunHandlers::make_run(const RunRequest& asked,
                                                        const ApiCall& call, RunTerms terms) {
  if (!terms.key.empty()) {
    auto known = same_as_before(registry_.find_key(terms.key, terms.owner), terms);
    if (!known || *known != nullptr) return known;
  }
  auto settled = settle_request(asked, configuration_.policies(), host_,
                                {call.exchange.descriptors(), call.exchange.peer().uid});
  if (!settled) return tl::unexpected(std::move(settled).error());
  terms.policy = settled->job.spec.policy;
  terms.network = policies::network_name(settled->job.spec.network);
  terms.code_sha256 = code_sum(asked);
  if (settled->refusal) return &registry_.keep(*settled->refusal, std::move(terms));
  const auto memory = settled->job.spec.limits.get(policies::LimitId::memory);
  const auto most = queue_.most().memory;
  if (most && memory && *memory > *most) {
    return tl::unexpected(Problem{422, "limit_refused",
                                  "limits.memory_bytes: this service has " +
                                      policies::format_size(*most) + " for all runs; ask for less",
                                  "limits.memory_bytes"});
  }
  if (auto refused = quotas_.may_run(call.caller, memory)) {
    return tl::unexpected(*std::move(refused));
  }
  const std::uint64_t bytes = held_bytes(asked);
  const auto own_most = terms.most;
  const auto run = registry_.begin(std::move(settled->job), bytes, std::move(terms));
  if (run) return *run;
  if (run.error() == RunRegistry::Refusal::not_stored) return tl::unexpected(not_stored());
  if (!queue_.has_own_room(call.caller.name, own_most, bytes)) {
    return tl::unexpected(quotas_.too_many_waiting(call.caller));
  }
  return tl::unexpected(
      Problem{429, "queue_full", "too many runs wait already", "", kRetrySeconds});
}

// Those of others are as if they were not there.
KnownRun* RunHandlers::find(const ApiCall& call) const {
  KnownRun* const run = registry_.find(call.id, call.caller);
  if (run == nullptr) {
    call.refuse({404, "no_such_run",
                 "you have no such run, or it is over for so long that nothing is kept of it"});
  }
  return run;
}

void RunHandlers::list(const ApiCall& call) const {
  call.exchange.answer(list_of("runs", registry_.list(call.caller)));
}

void RunHandlers::show(const ApiCall& call) const {
  if (const KnownRun* const run = find(call)) call.exchange.answer(record_of(*run));
}

void RunHandlers::follow(const ApiCall& call) const {
  if (KnownRun* const run = find(call)) follow_work(*run, call);
}

void RunHandlers::stop(const ApiCall& call) const {
  if (KnownRun* const run = find(call)) stop_work(*run, call);
}

}  // namespace wardcase::supervisor
