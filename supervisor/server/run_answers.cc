// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/run_answers.h"

#include <boost/json.hpp>
#include <utility>

#include "supervisor/run/record_parts.h"
#include "supervisor/server/run_events.h"
#include "supervisor/server/timestamp.h"

namespace wardcase::supervisor {

namespace json = boost::json;

namespace {

json::object summary_of(const KnownWork& work) {
  json::object summary = {{"id", to_json_text(work.id())},
                          {"state", to_json_text(work_state_name(work.state()))},
                          {"status", to_json_text(work.status_text())},
                          {"language", nullptr},
                          {"owner", nullptr},
                          {"created", timestamp(work.created())},
                          {"detached", work.terms().is_detached},
                          {"trace_id", nullptr}};
  if (work.language()) summary["language"] = to_json_text(*work.language());
  summary["owner"] = work.terms().owner;
  if (!work.terms().trace.empty()) summary["trace_id"] = to_json_text(work.terms().trace);
  return summary;
}

Problem problem_of(const RunFailure& failure) {
  if (failure.code == kDraining) return draining();
  const int retry = failure.status == 503 || failure.status == 429 ? kRetrySeconds : 0;
  return {failure.status, failure.code, failure.message, failure.field, retry};
}

// Waits for the end of it.
class AnswerAtEnd : public PendingAnswer {
 public:
  AnswerAtEnd(KnownWork& work, WorkReader::Bond bond, Exchange& exchange)
      : reader_(work, 0, bond, [&work, &exchange] {
          if (work.state() == WorkState::ended) exchange.answer(record_of(work));
        }) {}

 private:
  WorkReader reader_;
};

}  // namespace

HttpResponse head_of(const KnownWork& work) {
  HttpResponse response;
  response.headers.emplace_back("Content-Location", work.path());
  response.headers.emplace_back("Wardcase-Run-State", work_state_name(work.state()));
  response.headers.emplace_back("traceparent", own_traceparent(work.terms().trace));
  return response;
}

HttpResponse record_of(const KnownWork& work) {
  HttpResponse response = head_of(work);
  if (!work.failure()) {
    response.body = work.record();
    return response;
  }
  HttpResponse problem = to_response(problem_of(*work.failure()));
  problem.headers.insert(problem.headers.end(), response.headers.begin(), response.headers.end());
  return problem;
}

void answer_at_end(KnownWork& work, WorkReader::Bond bond, Exchange& exchange) {
  if (work.state() == WorkState::ended) return exchange.answer(record_of(work));
  exchange.hold(std::make_unique<AnswerAtEnd>(work, bond, exchange));
}

void stream(KnownWork& work, std::uint64_t after, WorkReader::Bond bond, AnswerKind kind,
            Exchange& exchange) {
  HttpResponse head = head_of(work);
  head.content_type = media_type_of(kind);
  exchange.stream(head, stream_events(work, after, bond, kind, exchange));
}

void answer(KnownWork& work, AnswerKind kind, bool is_async, Exchange& exchange) {
  if (is_async) {
    work.detach();
    return exchange.answer(accepted(work));
  }
  if (kind == AnswerKind::json) return answer_at_end(work, WorkReader::Bond::waits, exchange);
  stream(work, 0, WorkReader::Bond::reads, kind, exchange);
}

HttpResponse accepted(const KnownWork& work) {
  HttpResponse response = json_response(summary_of(work));
  response.status = 202;
  response.headers.emplace_back("Location", work.path());
  response.headers.emplace_back("Preference-Applied", "respond-async");
  response.headers.emplace_back("traceparent", own_traceparent(work.terms().trace));
  return response;
}

HttpResponse list_of(std::string_view name, const std::vector<const KnownWork*>& works) {
  json::array all;
  for (const KnownWork* const work : works) all.emplace_back(summary_of(*work));
  return json_response(json::object{{name, std::move(all)}});
}

}  // namespace wardcase::supervisor
