// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/case_outcome.h"

#include "supervisor/run/json_text.h"
#include "supervisor/run/text_decoder.h"

namespace wardcase::supervisor {

namespace {

constexpr std::size_t kMostTold = 200;  // of an exception's message

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::passed:
      return "passed";
    case Verdict::wrong_answer:
      return "wrong_answer";
    case Verdict::run_failed:
      return "run_failed";
    case Verdict::skipped:
      break;
  }
  return "skipped";
}

}  // namespace

std::string describe_end(const RunRecord& record) {
  if (!record.error.empty()) return record.error;
  if (record.status != RunStatus::exited) return std::string(status_name(record.status));
  std::string end = "exited with " + std::to_string(record.exit_code.value_or(0));
  if (record.error_type) {
    end += ": " + *record.error_type;
    if (record.error_message) end += ": " + record.error_message->substr(0, kMostTold);
  }
  return end;
}

std::string to_members(std::size_t index, const CaseOutcome& outcome, OutputForm form) {
  const auto& said = outcome.checker_output;
  return "\"index\":" + std::to_string(index) + ",\"verdict\":\"" +
         std::string(verdict_name(outcome.verdict)) +
         "\",\"reason\":" + json_string(to_utf8(outcome.reason)) +
         ",\"checker_output\":" + (said ? json_string(to_utf8(*said)) : "null") +
         ",\"record\":" + (outcome.record ? to_json(*outcome.record, form) : "null");
}

void shorten(RunRecord& record) {
  for (KeptOutput* const output : {&record.out, &record.err}) {
    output->truncated = output->bytes > 0;
    output->text.clear();
    output->raw.clear();
  }
  record.output.clear();
  record.error_message.reset();
  record.traceback.reset();
  record.artifacts.clear();
  record.denied_syscalls.reset();
}

}  // namespace wardcase::supervisor
