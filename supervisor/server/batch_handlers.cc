// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/batch_handlers.h"

#include <utility>

#include "supervisor/server/batch_request.h"
#include "supervisor/server/run_answers.h"
#include "supervisor/server/work_request.h"

namespace wardcase::supervisor {

void BatchHandlers::begin(const ApiCall& call) {
  if (is_draining_) return call.refuse(draining());
  auto asking = read_asking(call);
  if (!asking) return call.refuse(asking.error());
  auto asked = parse_batch_request(call.request.body);
  if (!asked) return call.refuse(asked.error());
  asking->terms.form = asked->program.form;
  asking->terms.deadline = asked->deadline;
  asking->terms.is_detached = asked->is_detached || asking->is_async;
  const auto batch = make_batch(*std::move(asked), call, std::move(asking->terms));
  if (!batch) return call.refuse(batch.error());
  answer(**batch, asking->kind, asking->is_async, call.exchange);
}

tl::expected<KnownWork*, Problem> BatchHandlers::make_batch(BatchRequest asked, const ApiCall& call,
                                                            RunTerms terms) {
  if (!terms.key.empty()) {
    auto known = same_as_before(registry_.find_key(terms.key, terms.owner), terms);
    if (!known || *known != nullptr) return known;
  }
  auto plan =
      settle_batch(std::move(asked), configuration_.policies(), host_, queue_.most().memory);
  if (!plan) return tl::unexpected(std::move(plan).error());
  if (auto refused = quotas_.may_run(call.caller, plan->memory)) {
    return tl::unexpected(*std::move(refused));
  }
  plan->most = quotas_.most_of(call.caller);
  if (plan->program != nullptr) {
    const RunSpec& spec = plan->program->spec();
    terms.policy = spec.policy;
    terms.network = policies::network_name(spec.network);
    terms.code_sha256 = code_sum(plan->request.program);
  }
  return registry_.begin(*std::move(plan), std::move(terms));
}

// Those of others are as if they were not there.
KnownWork* BatchHandlers::find(const ApiCall& call) const {
  KnownWork* const batch = registry_.find(call.id, call.caller);
  if (batch == nullptr) {
    call.refuse({404, "no_such_batch",
                 "you have no such batch, or it is over for so long that nothing is kept of it"});
  }
  return batch;
}

void BatchHandlers::show(const ApiCall& call) const {
  if (const KnownWork* const batch = find(call)) call.exchange.answer(record_of(*batch));
}

void BatchHandlers::follow(const ApiCall& call) const {
  if (KnownWork* const batch = find(call)) follow_work(*batch, call);
}

void BatchHandlers::stop(const ApiCall& call) const {
  if (KnownWork* const batch = find(call)) stop_work(*batch, call);
}

void BatchHandlers::begin_drain() {
  is_draining_ = true;
  registry_.begin_drain();
}

}  // namespace wardcase::supervisor
