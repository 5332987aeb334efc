// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/run_handlers.h"

#include <array>
#include <charconv>
#include <utility>

#include "policies/units.h"
#include "supervisor/server/request_spec.h"
#include "supervisor/server/request_target.h"
#include "supervisor/server/run_answers.h"
#include "supervisor/server/run_reply.h"

namespace wardcase::supervisor {

namespace {

constexpr std::array kOfEvents = {AnswerKind::ndjson, AnswerKind::sse};

// That of ?after=, or of who takes server-sent events up again.
tl::expected<std::uint64_t, Problem> read_position(const HttpRequest& request) {
  std::string_view text = "0";
  if (const auto* const last = request.header("last-event-id"); last != nullptr) text = *last;
  if (const auto after = parameter_of(request.target, "after")) text = *after;
  std::uint64_t position = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), position);
  if (error == std::errc() && end == text.data() + text.size()) return position;
  return tl::unexpected(
      Problem{400, "invalid_field", "after: write the number of an event, as 0 or 17", "after"});
}

std::string code_sum(const RunRequest& asked) {
  if (asked.code) return sha256(*asked.code);
  std::string words;
  for (const std::string& word : asked.argv) words.append(word).push_back('\0');
  return sha256(words);
}

}  // namespace

void RunHandlers::begin(const ApiCall& call) {
  if (is_draining_) return call.refuse(draining());
  const auto wanted = wanted_reply(call.request);
  if (!wanted) return call.refuse(wanted.error());
  const auto asked = parse_run_request(call.request.body);
  if (!asked) return call.refuse(asked.error());
  auto terms = terms_of(call, *asked, call.request.body);
  if (!terms) return call.refuse(terms.error());
  const auto run = make_run(*asked, *std::move(terms));
  if (!run) return call.refuse(run.error());
  reply_with(call, **run, *wanted);
}

tl::expected<KnownRun*, Problem> RunHandlers::make_run(const RunRequest& asked, RunTerms terms) {
  if (auto known = find_same(registry_, terms); !known || *known != nullptr) return known;
  auto settled = settle_request(asked, host_);
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
  const auto run = registry_.begin(std::move(settled->job), held_bytes(asked), std::move(terms));
  if (run) return *run;
  if (run.error() == RunRegistry::Refusal::not_stored) {
    return tl::unexpected(Problem{503, "not_stored",
                                  "the disk of the service is full: what becomes of a run that "
                                  "nobody waits for could be forgotten",
                                  "", kRestartSeconds});
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
  call.exchange.answer(list_of(registry_.list(call.caller)));
}

void RunHandlers::show(const ApiCall& call) const {
  if (const KnownRun* const run = find(call)) call.exchange.answer(record_of(*run));
}

void RunHandlers::follow(const ApiCall& call) const {
  KnownRun* const run = find(call);
  if (run == nullptr) return;
  const auto kind = choose_kind(call.request, kOfEvents);
  if (!kind) {
    return call.refuse(not_acceptable("application/x-ndjson or text/event-stream"));
  }
  const auto after = read_position(call.request);
  if (!after) return call.refuse(after.error());
  stream_run(call, *run, *after, RunReader::Bond::none, *kind);
}

void RunHandlers::stop(const ApiCall& call) const {
  KnownRun* const run = find(call);
  if (run == nullptr) return;
  run->stop();
  if (prefers_async(call.request) && run->state() != RunState::ended) {
    return call.exchange.answer(accepted(*run));
  }
  answer_at_end(*run, RunReader::Bond::none, call.exchange);
}

}  // namespace wardcase::supervisor
