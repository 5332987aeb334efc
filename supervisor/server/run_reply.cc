// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/run_reply.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "supervisor/languages/sha256.h"
#include "supervisor/server/run_answers.h"
#include "supervisor/server/run_events.h"

namespace wardcase::supervisor {

namespace {

constexpr std::array kOfRun = {AnswerKind::json, AnswerKind::ndjson, AnswerKind::sse};

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

void stream_to(Exchange& exchange, KnownRun& run, std::uint64_t after, RunReader::Bond bond,
               AnswerKind kind) {
  HttpResponse head = head_of(run);
  head.content_type = media_type_of(kind);
  exchange.stream(head, stream_events(run, after, bond, kind, exchange));
}

// Answers once it is certain that there is something to tell of; until then it may be refused.
class ReplyOnceTaken : public PendingAnswer {
 public:
  ReplyOnceTaken(const ApiCall& call, KnownRun& run, const WantedReply& wanted)
      : exchange_(call.exchange),
        wanted_(wanted),
        reader_(run, 0, RunReader::Bond::waits, [this] { look(); }) {}

 private:
  void look() {
    KnownRun& run = reader_.run();
    if (is_done_ || !(run.is_taken() || run.state() == RunState::ended)) return;
    is_done_ = true;
    if (run.failure()) return exchange_.answer(record_of(run));
    if (wanted_.is_async) {
      run.detach();
      return exchange_.answer(accepted(run));
    }
    stream_to(exchange_, run, 0, RunReader::Bond::reads, wanted_.kind);
  }

  Exchange& exchange_;
  WantedReply wanted_;
  bool is_done_ = false;
  RunReader reader_;
};

}  // namespace

std::optional<Problem> refuse_body_type(const HttpRequest& request) {
  if (is_json(request)) return std::nullopt;
  return Problem{415, "unsupported_media_type", "send Content-Type: application/json"};
}

Problem not_acceptable(std::string_view kinds) {
  return {406, "not_acceptable", "Accept: this path answers with " + std::string(kinds)};
}

tl::expected<WantedReply, Problem> wanted_reply(const HttpRequest& request) {
  if (auto problem = refuse_body_type(request)) return tl::unexpected(*std::move(problem));
  const auto kind = choose_kind(request, kOfRun);
  if (kind) return WantedReply{*kind, prefers_async(request)};
  return tl::unexpected(
      not_acceptable("application/json, application/x-ndjson or text/event-stream"));
}

tl::expected<RunTerms, Problem> terms_of(const ApiCall& call, const RunRequest& asked,
                                         std::string_view fingerprinted) {
  auto key = idempotency_key(call.request);
  if (!key) return tl::unexpected(std::move(key).error());
  RunTerms terms;
  terms.owner = call.caller.name;
  terms.form = asked.form;
  terms.deadline = asked.deadline;
  terms.trace = trace_id(call.request);
  terms.is_detached = asked.is_detached;
  terms.key = *std::move(key);
  if (!terms.key.empty()) terms.fingerprint = sha256(fingerprinted);
  return terms;
}

tl::expected<KnownRun*, Problem> find_same(const RunRegistry& registry, const RunTerms& terms) {
  if (terms.key.empty()) return nullptr;
  KnownRun* const known = registry.find_key(terms.key, terms.owner);
  if (known == nullptr || known->is_abandoned() || known->failure()) return nullptr;
  if (known->terms().fingerprint == terms.fingerprint) return known;
  return tl::unexpected(Problem{422, "key_reused",
                                "Idempotency-Key: another request was sent under this key before"});
}

void stream_run(const ApiCall& call, KnownRun& run, std::uint64_t after, RunReader::Bond bond,
                AnswerKind kind) {
  stream_to(call.exchange, run, after, bond, kind);
}

void reply_with(const ApiCall& call, KnownRun& run, const WantedReply& wanted) {
  if (!wanted.is_async && wanted.kind == AnswerKind::json) {
    return answer_at_end(run, RunReader::Bond::waits, call.exchange);
  }
  if (!run.is_taken() && run.state() != RunState::ended) {
    return call.exchange.hold(std::make_unique<ReplyOnceTaken>(call, run, wanted));
  }
  if (!wanted.is_async) return stream_run(call, run, 0, RunReader::Bond::reads, wanted.kind);
  run.detach();
  call.exchange.answer(accepted(run));
}

}  // namespace wardcase::supervisor
