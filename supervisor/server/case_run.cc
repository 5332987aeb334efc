// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/case_run.h"

#include <unistd.h>

#include <csignal>
#include <utility>

#include "supervisor/languages/program_environment.h"
#include "supervisor/languages/program_file.h"

namespace wardcase::supervisor {

namespace {

constexpr std::size_t kMostCheckerOutput = 4096;
constexpr int kWrongAnswer = 1;  // a checker's exit code

}  // namespace

bool BatchJob::submit(RunQueue::Asked asked) {
  const auto ticket = queue_.submit(std::move(asked), *this);
  ticket_ = ticket.value_or(0);
  return ticket.has_value();
}

void BatchJob::stop() {
  if (!std::exchange(is_stopping_, true) && queue_.stop(ticket_, SIGTERM)) on_given_up();
}

CaseRun::CaseRun(RunQueue& queue, const BatchPlan& plan, std::size_t index, Ended ended)
    : BatchJob(queue), plan_(plan), case_(plan.request.cases[index]), ended_(std::move(ended)) {}

sys::Result<bool> CaseRun::begin(const std::string& owner) {
  auto job = make_job();
  if (!job) return tl::unexpected(std::move(job).error());
  // What the request holds is counted by its batch.
  return submit({*std::move(job), owner, /*bytes=*/0, plan_.memory, plan_.most});
}

std::string_view CaseRun::input() const {
  if (case_.input) return *case_.input;
  return plan_.request.input ? std::string_view(*plan_.request.input) : std::string_view();
}

sys::Result<Job> CaseRun::make_job() {
  auto job = plan_.program->make_run();
  if (!job) return job;
  RunSpec& spec = job->spec;
  spec.argv.insert(spec.argv.end(), case_.arguments.begin(), case_.arguments.end());
  set_variables(spec.environment, case_.environment);
  if (auto placed = place_files(spec); !placed) return tl::unexpected(std::move(placed).error());
  if (case_.input || plan_.request.input) {
    auto memory = text_in_memory(input());
    if (!memory) return tl::unexpected(std::move(memory).error());
    if (::lseek(memory->get(), 0, SEEK_SET) < 0) {
      return tl::unexpected(sys::errno_error("rewind the input"));
    }
    spec.stdin_source = *std::move(memory);
  }
  if (plan_.checker != nullptr) {
    auto output = make_memory();
    if (!output) return tl::unexpected(std::move(output).error());
    checked_.output = *std::move(output);
    checked_.input = input();
    if (case_.expected) checked_.expected = *case_.expected;
    job->parts.push_back(std::make_unique<CheckerPart>(*plan_.checker, checked_));
  } else if (case_.expected) {
    comparator_ = make_comparator(case_.comparison, *case_.expected);
  }
  return job;
}

sys::Status CaseRun::place_files(RunSpec& spec) const {
  for (const RunRequest::File& file : case_.files) {
    auto content = text_in_memory(file.content);
    if (!content) return tl::unexpected(std::move(content).error());
    spec.files.push_back({"/box/" + file.name, *std::move(content), 0644});
  }
  return {};
}

void CaseRun::on_output(Stream stream, std::string_view bytes) {
  if (stream != Stream::out) return;
  if (comparator_) comparator_->take(bytes);
  if (!checked_.output.is_open() || !lost_.empty()) return;
  if (auto kept = append_to_memory(checked_.output.get(), bytes); !kept) {
    lost_ = kept.error().message();
  }
}

CaseOutcome CaseRun::judge(const RunRecord& record) {
  CaseOutcome outcome;
  outcome.record = record;
  if (record.status == RunStatus::stopped) return outcome;
  if (!record.success()) {
    const bool is_test = plan_.request.is_tested_by_code && record.status == RunStatus::exited;
    outcome.verdict = is_test ? Verdict::wrong_answer : Verdict::run_failed;
    outcome.reason = describe_end(record);
    return outcome;
  }
  if (plan_.checker != nullptr) {
    judge_by_checker(outcome);
    return outcome;
  }
  if (comparator_) outcome.reason = comparator_->finish();
  outcome.verdict = outcome.reason.empty() ? Verdict::passed : Verdict::wrong_answer;
  return outcome;
}

void CaseRun::judge_by_checker(CaseOutcome& outcome) {
  outcome.verdict = Verdict::run_failed;
  const auto& record = checked_.record;
  if (!record || !lost_.empty()) {
    outcome.reason = "the checker could not run: " + (record ? lost_ : checked_.error);
    return;
  }
  outcome.checker_output = record->out.text.substr(0, kMostCheckerOutput);
  if (record->status == RunStatus::stopped) {
    outcome.verdict = Verdict::skipped;
  } else if (record->success()) {
    outcome.verdict = Verdict::passed;
  } else if (record->status == RunStatus::exited && record->exit_code == kWrongAnswer &&
             !record->error_type) {
    outcome.verdict = Verdict::wrong_answer;
    outcome.reason = "the checker exited with 1";
  } else {
    outcome.reason = "the checker failed: " + describe_end(*record);
  }
}

}  // namespace wardcase::supervisor
