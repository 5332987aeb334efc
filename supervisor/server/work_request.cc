// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/work_request.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <string>
#include <utility>

#include "supervisor/languages/sha256.h"
#include "supervisor/server/request_target.h"
#include "supervisor/server/run_answers.h"

namespace wardcase::supervisor {

namespace {

constexpr std::array kKindsOfEvents = {AnswerKind::ndjson, AnswerKind::sse};
constexpr std::array kKinds = {AnswerKind::json, AnswerKind::ndjson, AnswerKind::sse};

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

Problem not_acceptable(std::span<const AnswerKind> kinds) {
  std::string names;
  for (const AnswerKind kind : kinds) {
    const bool is_last = &kind == &kinds.back();
    names += (names.empty() ? "" : is_last ? " or " : ", ") + std::string(media_type_of(kind));
  }
  return {406, "not_acceptable", "Accept: this path answers with " + names};
}

// The number of the event after which to go on: that of ?after=, or of who takes server-sent
// events up again.
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

}  // namespace

std::optional<Problem> refuse_body_type(const HttpRequest& request) {
  if (is_json(request)) return std::nullopt;
  return Problem{415, "unsupported_media_type", "send Content-Type: application/json"};
}

tl::expected<Asking, Problem> read_asking(const ApiCall& call) {
  if (auto problem = refuse_body_type(call.request)) return tl::unexpected(*std::move(problem));
  const auto kind = choose_kind(call.request, kKinds);
  if (!kind) return tl::unexpected(not_acceptable(kKinds));
  auto key = idempotency_key(call.request);
  if (!key) return tl::unexpected(std::move(key).error());
  Asking asking;
  asking.kind = *kind;
  asking.is_async = prefers_async(call.request);
  asking.terms.owner = call.caller.name;
  asking.terms.trace = trace_id(call.request);
  asking.terms.key = *std::move(key);
  if (!asking.terms.key.empty()) asking.terms.fingerprint = sha256(call.request.body);
  return asking;
}

tl::expected<KnownWork*, Problem> same_as_before(KnownWork* known, const RunTerms& terms) {
  if (known == nullptr || known->is_abandoned() || known->failure()) return nullptr;
  if (known->terms().fingerprint == terms.fingerprint) return known;
  return tl::unexpected(Problem{422, "key_reused",
                                "Idempotency-Key: another request was sent under this key before"});
}

Problem not_stored() {
  return {503, "not_stored",
          "the disk of the service is full: what becomes of a run that nobody waits for could be "
          "forgotten",
          "", kRestartSeconds};
}

std::string code_sum(const RunRequest& asked) {
  if (asked.code) return sha256(*asked.code);
  std::string words;
  for (const std::string& word : asked.argv) words.append(word).push_back('\0');
  return sha256(words);
}

void follow_work(KnownWork& work, const ApiCall& call) {
  const auto kind = choose_kind(call.request, kKindsOfEvents);
  if (!kind) return call.refuse(not_acceptable(kKindsOfEvents));
  const auto after = read_position(call.request);
  if (!after) return call.refuse(after.error());
  stream(work, *after, WorkReader::Bond::none, *kind, call.exchange);
}

void stop_work(KnownWork& work, const ApiCall& call) {
  work.stop();
  if (prefers_async(call.request) && work.state() != WorkState::ended) {
    return call.exchange.answer(accepted(work));
  }
  answer_at_end(work, WorkReader::Bond::none, call.exchange);
}

}  // namespace wardcase::supervisor
