// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/syntax_check.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "supervisor/languages/program_command.h"
#include "supervisor/languages/program_file.h"
#include "supervisor/languages/source_error.h"

namespace wardcase::supervisor {
namespace {

constexpr std::string_view kScript = "/run/wardcase/wardcase-check";

// Where the source is, as errors are to name it: from its own directory.
sys::Result<std::string> place_source(const CheckOrder& order, RunSpec& spec) {
  if (!order.shown_at.empty()) {
    const std::size_t slash = order.shown_at.rfind('/');
    spec.cwd = order.shown_at.substr(0, slash);
    return order.shown_at.substr(slash + 1);
  }
  sys::UniqueFd content(::fcntl(order.source.content.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!content.is_open()) return tl::unexpected(sys::errno_error("share the program"));
  const bool is_taken = std::ranges::any_of(
      spec.mounts, [](const policies::Mount& mount) { return mount.target == "/box"; });
  const std::string path = (is_taken ? "/run/wardcase/" : "/box/") + order.source.name;
  // Among the files that are shared it may be already.
  std::erase_if(spec.files, [&](const PlacedFile& file) { return file.path == path; });
  spec.files.push_back({path, std::move(content), 0644});
  if (is_taken) return path;
  spec.cwd = "/box";
  return order.source.name;
}

}  // namespace

sys::Status make_check(const CheckOrder& order, unsigned host_cpus, RunSpec& spec) {
  policies::Limits limits = spec.limits;
  if (auto known = limits.resolve(host_cpus, /*captured=*/true); !known) return known;
  const policies::CheckStep& check = order.runner.check;
  CommandPlaces places;
  places.interpreter = order.interpreter;
  auto source = place_source(order, spec);
  if (!source) return tl::unexpected(std::move(source).error());
  places.source = *std::move(source);
  if (!check.script.empty()) {
    auto script = text_in_memory(check.script);
    if (!script) return tl::unexpected(std::move(script).error());
    places.script = std::string(kScript) + order.script_suffix;
    spec.files.push_back({*places.script, *std::move(script), 0644});
  }
  fill_command(check.command, order.runner, places, limits, spec);
  for (policies::Mount& mount : spec.mounts) mount.mode = policies::MountMode::read_only;
  spec.network = policies::Network::none;
  spec.stdin_source.reset();
  spec.terminal.reset();
  spec.merge_stderr = false;
  spec.capture = Capture::keep;
  return {};
}

std::optional<PartFailure> judge_check(const CheckOrder& order, const RunRecord& check) {
  if (check.success()) return std::nullopt;
  PartFailure failure =
      stage_failure(check, RunStatus::syntax_error, "check " + order.source.name, "the policy");
  if (check.status != RunStatus::exited) return failure;
  const auto& errors = order.runner.check.errors;
  auto error = first_error(errors, check.err.text);
  if (!error) error = first_error(errors, check.out.text);
  failure.error_type = "SyntaxError";
  if (!error) return failure;
  const auto text = read_source(order.source.content.get(), order.source.name);
  tell_error(*error, order.source.name, text.value_or(""), failure);
  return failure;
}

void CheckPart::before(EventLoop& loop, Host& host, RunSpec& program, StageNotes& notes,
                       Done done) {
  (void)notes;
  RunSpec spec = stage_spec(program, order_.limits);
  spec.mounts = program.mounts;
  const auto made = share_files(program, spec).and_then([&] {
    return make_check(order_, static_cast<unsigned>(host.cpus().size()), spec);
  });
  if (!made) {
    return done(
        PartFailure{.status = RunStatus::setup_failed,
                    .error = "check " + order_.source.name + ": " + made.error().message()});
  }
  run_ = std::make_unique<StageRun>(loop, host);
  run_->start(std::move(spec), {}, [this, done = std::move(done)](const RunRecord& record) {
    done(judge_check(order_, record));
  });
}

void CheckPart::stop(int signal) {
  if (run_) run_->stop(signal);
}

void VerdictPart::after(EventLoop& loop, int box_directory, RunRecord& record,
                        std::function<void()> resume) {
  (void)loop;
  (void)box_directory;
  if (auto failure = judge_check(order_, record)) tell_failure(*std::move(failure), record);
  resume();
}

}  // namespace wardcase::supervisor
