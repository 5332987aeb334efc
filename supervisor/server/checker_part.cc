// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/checker_part.h"

#include <utility>

#include "supervisor/languages/program_file.h"

namespace wardcase::supervisor {

void CheckerPart::before(EventLoop& loop, Host& host, RunSpec& /*program*/, StageNotes& /*notes*/,
                         Done done) {
  loop_ = &loop;
  host_ = &host;
  done(std::nullopt);
}

sys::Result<Job> CheckerPart::make_job() {
  auto job = checker_.make_run();
  if (!job) return job;
  const auto add = [&](std::string_view name, sys::UniqueFd content) {
    job->spec.files.push_back({"/box/" + std::string(name), std::move(content), 0444});
  };
  auto input = text_in_memory(case_.input);
  if (!input) return tl::unexpected(std::move(input).error());
  add(kCheckerFiles[0], *std::move(input));
  add(kCheckerFiles[1], std::move(case_.output));
  if (!case_.expected) return job;
  auto expected = text_in_memory(*case_.expected);
  if (!expected) return tl::unexpected(std::move(expected).error());
  add(kCheckerFiles[2], *std::move(expected));
  return job;
}

void CheckerPart::after(EventLoop& /*loop*/, int /*box_directory*/, RunRecord& record,
                        std::function<void()> resume) {
  if (!record.success()) return resume();
  auto job = make_job();
  if (!job) {
    case_.error = job.error().message();
    return resume();
  }
  resume_ = std::move(resume);
  run_ = std::make_unique<JobRun>(*loop_, *host_);
  RunObserver& observer = *this;
  run_->start(*std::move(job), observer);
}

void CheckerPart::stop(int signal) {
  if (run_) run_->stop(signal);
}

// The run's own call is still under way, and this goes with what is resumed.
void CheckerPart::on_end(const RunRecord& record) {
  case_.record = record;
  loop_->post(std::exchange(resume_, nullptr));
}

}  // namespace wardcase::supervisor
