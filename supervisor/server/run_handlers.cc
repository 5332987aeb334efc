// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/run_handlers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "policies/units.h"
#include "supervisor/languages/sha256.h"
#include "supervisor/server/request_spec.h"
#include "supervisor/server/request_target.h"
#include "supervisor/server/run_answers.h"
#include "supervisor/server/run_events.h"

namespace wardcase::supervisor {

namespace {

constexpr std::array kOfRun = {AnswerKind::json, AnswerKind::ndjson, AnswerKind::sse};
constexpr std::array kOfEvents = {AnswerKind::ndjson, AnswerKind::sse};

bool is_json(const HttpRequest& request) {
  const std::string* type = request.header("content-type");
  if (type == nullptr) return true;
  std::string media = type->substr(0, type->find(';'));
  while (!media.empty() && (media.back() == ' ' || media.back() == '\t')) media.pop_back();
  std::ranges::transform(media, media.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return media == "application/json";
}

Problem not_acceptable(std::string_view kinds) {
  return {406, "not_acceptable", "Accept: this path answers with " + std::string(kinds)};
}

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

void stream(const ApiCall& call, KnownRun& run, std::uint64_t after, RunReader::Bond bond,
            AnswerKind kind) {
  HttpResponse head = head_of(run);
  head.content_type = media_type_of(kind);
  call.exchange.stream(head, stream_events(run, after, bond, kind, call.exchange));
}

}  // namespace

void RunHandlers::begin(const ApiCall& call) {
  if (is_draining_) return call.refuse(draining());
  if (!is_json(call.request)) {
    return call.refuse({415, "unsupported_media_type", "send Content-Type: application/json"});
  }
  const auto kind = choose_kind(call.request, kOfRun);
  if (!kind) {
    return call.refuse(
        not_acceptable("application/json, application/x-ndjson or text/event-stream"));
  }
  auto key = idempotency_key(call.request);
  if (!key) return call.refuse(key.error());
  const auto asked = parse_run_request(call.request.body);
  if (!asked) return call.refuse(asked.error());
  RunTerms terms;
  terms.owner = call.caller.name;
  terms.most = quotas_.most_of(call.caller);
  terms.form = asked->form;
  terms.deadline = asked->deadline;
  terms.trace = trace_id(call.request);
  terms.key = *std::move(key);
  const bool is_async = prefers_async(call.request);
  terms.is_detached = asked->is_detached || is_async;
  const auto run = make_run(*asked, call, std::move(terms));
  if (!run) return call.refuse(run.error());
  if (is_async) {
    (*run)->detach();
    return call.exchange.answer(accepted(**run));
  }
  if (*kind == AnswerKind::json) {
    return answer_at_end(**run, RunReader::Bond::waits, call.exchange);
  }
  stream(call, **run, 0, RunReader::Bond::reads, *kind);
}

// Under a key that was used before it is the run that was asked for then; but not one that never
// began, or was stopped because its client was gone, who now comes again.
tl::expected<KnownRun*, Problem> RunHandlers::make_run(const RunRequest& asked, const ApiCall& call,
                                                       RunTerms terms) {
  if (!terms.key.empty()) {
    terms.fingerprint = sha256(call.request.body);
    KnownRun* known = registry_.find_key(terms.key, terms.owner);
    if (known != nullptr && (known->is_abandoned() || known->failure())) known = nullptr;
    if (known != nullptr && known->terms().fingerprint == terms.fingerprint) return known;
    if (known != nullptr) {
      return tl::unexpected(Problem{
          422, "key_reused", "Idempotency-Key: another request was sent under this key before"});
    }
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
  if (run.error() == RunRegistry::Refusal::not_stored) {
    return tl::unexpected(Problem{503, "not_stored",
                                  "the disk of the service is full: what becomes of a run that "
                                  "nobody waits for could be forgotten",
                                  "", kRestartSeconds});
  }
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
  stream(call, *run, *after, RunReader::Bond::none, *kind);
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
