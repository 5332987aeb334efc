// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/run_answers.h"

#include <boost/json.hpp>
#include <utility>

#include "supervisor/run/record_parts.h"
#include "supervisor/server/request_terms.h"
#include "supervisor/server/timestamp.h"

namespace wardcase::supervisor {

namespace json = boost::json;

namespace {

std::string path_of_run(const KnownRun& run) { return "/v1/runs/" + run.id(); }

json::object summary_of(const KnownRun& run) {
  json::object summary = {{"id", to_json_text(run.id())},
                          {"state", to_json_text(run_state_name(run.state()))},
                          {"status", to_json_text(status_name(run.status()))},
                          {"language", nullptr},
                          {"owner", nullptr},
                          {"created", timestamp(run.created())},
                          {"detached", run.terms().is_detached},
                          {"trace_id", nullptr}};
  if (run.language()) summary["language"] = to_json_text(*run.language());
  summary["owner"] = run.terms().owner;
  if (!run.terms().trace.empty()) summary["trace_id"] = to_json_text(run.terms().trace);
  return summary;
}

Problem problem_of(const RunFailure& failure) {
  if (failure.code == kDraining) return draining();
  const int retry = failure.status == 503 || failure.status == 429 ? kRetrySeconds : 0;
  return {failure.status, failure.code, failure.message, failure.field, retry};
}

// Waits for the end of a run.
class AnswerAtEnd : public PendingAnswer {
 public:
  AnswerAtEnd(KnownRun& run, RunReader::Bond bond, Exchange& exchange)
      : reader_(run, 0, bond, [&run, &exchange] {
          if (run.state() == RunState::ended) exchange.answer(record_of(run));
        }) {}

 private:
  RunReader reader_;
};

}  // namespace

std::string time_text(std::chrono::system_clock::time_point when) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(when);
  std::tm parts = {};
  (void)::gmtime_r(&seconds, &parts);  // fails beyond the year 2^31
  std::array<char, sizeof "2026-01-02T03:04:05Z"> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), size};
}

HttpResponse head_of(const KnownRun& run) {
  HttpResponse response;
  response.headers.emplace_back("Content-Location", path_of_run(run));
  response.headers.emplace_back("Wardcase-Run-State", run_state_name(run.state()));
  response.headers.emplace_back("traceparent", own_traceparent(run.terms().trace));
  return response;
}

HttpResponse record_of(const KnownRun& run) {
  HttpResponse response = head_of(run);
  if (!run.failure()) {
    response.body = run.record();
    return response;
  }
  HttpResponse problem = to_response(problem_of(*run.failure()));
  problem.headers.insert(problem.headers.end(), response.headers.begin(), response.headers.end());
  return problem;
}

void answer_at_end(KnownRun& run, RunReader::Bond bond, Exchange& exchange) {
  if (run.state() == RunState::ended) return exchange.answer(record_of(run));
  exchange.hold(std::make_unique<AnswerAtEnd>(run, bond, exchange));
}

HttpResponse accepted(const KnownRun& run) {
  HttpResponse response = json_response(summary_of(run));
  response.status = 202;
  response.headers.emplace_back("Location", path_of_run(run));
  response.headers.emplace_back("Preference-Applied", "respond-async");
  response.headers.emplace_back("traceparent", own_traceparent(run.terms().trace));
  return response;
}

HttpResponse list_of(const std::vector<const KnownRun*>& runs) {
  json::array all;
  for (const KnownRun* const run : runs) all.emplace_back(summary_of(*run));
  return json_response(json::object{{"runs", std::move(all)}});
}

}  // namespace wardcase::supervisor
