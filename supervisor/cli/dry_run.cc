// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/dry_run.h"

#include <fcntl.h>

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

#include "sandbox/sys/retry.h"
#include "supervisor/cli/console.h"
#include "supervisor/cli/run_report.h"
#include "supervisor/cli/signals.h"
#include "supervisor/languages/job_run.h"
#include "supervisor/run/preparation.h"
#include "supervisor/run/record_parts.h"

namespace wardcase::supervisor {

namespace {

namespace json = boost::json;

constexpr int kSchemaVersion = 1;
constexpr std::size_t kLabelWidth = 13;

// Nothing is written before the end, since the program never begins.
class RehearsalObserver : public RunObserver {
 public:
  explicit RehearsalObserver(EventLoop& loop) : loop_(loop) {}
  void on_start(std::string_view) override {}
  void on_output(Stream, std::string_view) override {}
  void on_end(const RunRecord& ended) override {
    record = ended;
    loop_.stop();
  }

  RunRecord record;

 private:
  EventLoop& loop_;
};

std::vector<std::string> names_of(const std::vector<std::string>& environment) {
  std::vector<std::string> names;
  names.reserve(environment.size());
  for (const std::string& variable : environment) {
    names.push_back(variable.substr(0, variable.find('=')));
  }
  return names;
}

// Who said what the limit is now: whoever set it, unless something made it another one.
std::string origin_of(const policies::LimitRow& row, const RunOptions& options,
                      const policies::Limits& settled) {
  const std::string& origin = options.limit_origins[static_cast<std::size_t>(row.id)];
  const auto asked = options.limits.get(row.id);
  const auto now = settled.get(row.id);
  if (now == asked) return origin;
  const policies::Maximum& maximum = settled.maximum(row.id);
  if (now && now == maximum.value) {
    return "limits.max." + std::string(row.key) + ", " + maximum.origin;
  }
  return asked ? "lowered to what this host has" : "worked out";
}

sys::Result<RunRecord> try_run(EventLoop& loop, Host& host, Job job) {
  RunSpec& spec = job.spec;
  spec.rehearsal = true;
  // What nobody reads stays the caller's: it may be for the next command.
  if (spec.stdin_source.is_open()) {
    spec.stdin_source.reset(
        sys::retry_eintr([&] { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }));
    if (!spec.stdin_source.is_open()) return tl::unexpected(sys::errno_error("open '/dev/null'"));
  }
  RehearsalObserver observer(loop);
  JobRun run(loop, host);
  Signals signals(loop);
  auto opened = signals.open([&](int signal) {
    const bool is_of_terminal = signal == SIGTSTP || signal == SIGCONT || signal == SIGWINCH;
    if (!is_of_terminal) run.stop(signal);  // what is over in a moment need not be frozen
  });
  if (!opened) return tl::unexpected(std::move(opened).error());
  run.start(std::move(job), observer);
  if (auto turned = loop.run(); !turned) return tl::unexpected(std::move(turned).error());
  return observer.record;
}

std::string line(std::string_view label, const std::string& text) {
  std::string head(label);
  head.resize(kLabelWidth, ' ');
  return head + printable(text) + "\n";
}

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : " ") + word;
  return all;
}

std::string mode_name(policies::MountMode mode) {
  return mode == policies::MountMode::read_write ? "rw" : "ro";
}

std::string limit_lines(const DryRun& dry_run) {
  std::string lines;
  for (const policies::LimitRow& row : policies::limit_table()) {
    const auto at = static_cast<std::size_t>(row.id);
    const auto value = dry_run.record.limits.get(row.id);
    std::string text = std::string(row.key) + " " + policies::format_limit(row, value);
    if (value) text += ", by " + std::string(enforcement_name(dry_run.record.enforced_by[at]));
    lines += line(lines.empty() ? "limits" : "", text + " (" + dry_run.limit_origins[at] + ")");
  }
  return lines;
}

json::array mounts_json(const DryRun& dry_run) {
  json::array mounts;
  for (const sandbox::BindRequest& bind : dry_run.binds) {
    mounts.emplace_back(json::object{{"source", to_json_text(bind.source)},
                                     {"target", to_json_text(bind.target)},
                                     {"mode", mode_name(bind.mode)}});
  }
  return mounts;
}

json::object origins_json(const DryRun& dry_run) {
  json::object origins;
  for (const policies::LimitRow& row : policies::limit_table()) {
    origins[row.key] = to_json_text(dry_run.limit_origins[static_cast<std::size_t>(row.id)]);
  }
  return origins;
}

}  // namespace

sys::Result<DryRun> rehearse(EventLoop& loop, Host& host, const RunOptions& options, Job job,
                             const std::optional<RunRecord>& refusal) {
  const RunSpec& spec = job.spec;
  DryRun dry_run;
  dry_run.policy = spec.policy;
  dry_run.argv = spec.argv;
  dry_run.directory = spec.cwd;
  dry_run.network = spec.network;
  dry_run.environment = names_of(spec.environment);
  dry_run.binds = binds_of(spec);
  if (refusal) {
    dry_run.record = *refusal;
  } else {
    auto record = try_run(loop, host, std::move(job));
    if (!record) return tl::unexpected(std::move(record).error());
    dry_run.record = *std::move(record);
  }
  for (const policies::LimitRow& row : policies::limit_table()) {
    dry_run.limit_origins[static_cast<std::size_t>(row.id)] =
        origin_of(row, options, dry_run.record.limits);
  }
  return dry_run;
}

int exit_code_of(const DryRun& dry_run) {
  return dry_run.would_run() ? 0 : exit_code_of(dry_run.record);
}

std::string to_text(const DryRun& dry_run) {
  const RunRecord& record = dry_run.record;
  std::string text = line(dry_run.would_run() ? "would run" : "would fail", joined(dry_run.argv));
  if (record.language) text += line("language", *record.language);
  text += line("policy", dry_run.policy);
  text += line("directory", dry_run.directory);
  text += line("network", std::string(policies::network_name(dry_run.network)));
  text += line("environment", joined(dry_run.environment));
  for (const sandbox::BindRequest& bind : dry_run.binds) {
    text += line("mount", bind.target + " from " + bind.source + ", " + mode_name(bind.mode));
  }
  text += limit_lines(dry_run);
  if (record.isolation.effective.empty()) return text;  // it was not come to that
  text += line("isolation", joined(record.isolation.effective));
  for (const Degraded& weaker : record.isolation.degraded) {
    text += line("degraded", describe_degraded(weaker));
  }
  return text;
}

std::string to_json(const DryRun& dry_run) {
  const RunRecord& record = dry_run.record;
  json::object object;
  object["schema_version"] = kSchemaVersion;
  object["would_run"] = dry_run.would_run();
  object["status"] =
      dry_run.would_run() ? json::value(nullptr) : json::value(status_name(record.status));
  object["exit_code"] = exit_code_of(dry_run);
  object["error"] = to_json_text(record.error);
  object["language"] =
      record.language ? json::value(to_json_text(*record.language)) : json::value(nullptr);
  object["policy"] = to_json_text(dry_run.policy);
  object["argv"] = to_json_texts(dry_run.argv);
  object["directory"] = to_json_text(dry_run.directory);
  object["network"] = policies::network_name(dry_run.network);
  object["environment"] = to_json_texts(dry_run.environment);
  object["mounts"] = mounts_json(dry_run);
  add_limits(object, record);
  object["limit_origins"] = origins_json(dry_run);
  add_isolation(object, record);
  return json::serialize(object);
}

}  // namespace wardcase::supervisor
