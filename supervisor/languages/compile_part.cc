// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/compile_part.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "supervisor/languages/compiled_file.h"
#include "supervisor/languages/interpreter_search.h"
#include "supervisor/languages/program_command.h"
#include "supervisor/languages/program_environment.h"
#include "supervisor/languages/sha256.h"
#include "supervisor/languages/source_error.h"

namespace wardcase::supervisor {
namespace {

// Changes with how sources are compiled and placed: what was made in another way is not found.
constexpr std::string_view kRecipe = "wardcase compiled 1";
// Where the directory of a source is shown: at /box would be no place for what is made.
constexpr std::string_view kDirectory = "/workspace";
// Where an entry is shown: not among what the box can write to.
constexpr std::string_view kShownAt = "/opt/wardcase/program";

// What headers and libraries there are changes with these, where nothing of the compiler does.
constexpr const char* kInstalled[] = {
    "/var/lib/dpkg/status",      "/usr/lib/sysimage/rpm/rpmdb.sqlite",
    "/var/lib/rpm/rpmdb.sqlite", "/lib/apk/db/installed",
    "/usr/local/include",        "/usr/local/lib"};

// Parts of a hash may hold anything, so that each is led by its length.
class ContentName {
 public:
  void add(std::string_view part) {
    hash_.add(std::to_string(part.size()) + ":");
    hash_.add(part);
  }
  void add(policies::Words words) {
    add(std::to_string(words.size()));
    for (const std::string_view word : words) add(word);
  }
  std::string finish() { return hash_.finish(); }

 private:
  Sha256 hash_;
};

std::string compiler_of(const CompileOrder& order) {
  return order.interpreter ? *order.interpreter : find_on_path(order.runner.interpreters, kBoxPath);
}

// All that decides what comes out.
sys::Result<std::string> name_of(const CompileOrder& order, const std::string& compiler,
                                 const std::string& text, const RunSpec& program) {
  auto identity = identity_of(compiler);
  if (!identity) return identity;
  ContentName name;
  name.add(kRecipe);
  name.add(order.language);
  name.add(*identity);
  for (const char* path : kInstalled) name.add(identity_of(path).value_or(""));
  name.add(order.runner.compile.command);
  name.add(order.runner.compile.output);
  name.add(order.runner.compile.environment);
  name.add(order.source.name);
  name.add(text);
  for (const std::string& variable : program.environment) name.add(variable);
  for (const PlacedFile& file : program.files) {
    if (!file.path.starts_with("/box/")) continue;
    auto content = read_source(file.content.get(), file.path);
    if (!content) return content;
    name.add(file.path);
    name.add(*content);
  }
  return name.finish();
}

}  // namespace

void CompilePart::before(EventLoop& loop, Host& host, RunSpec& program, StageNotes& notes,
                         Done done) {
  loop_ = &loop;
  host_ = &host;
  program_ = &program;
  notes_ = &notes;
  done_ = std::move(done);
  auto text = read_source(order_.source.content.get(), order_.source.name);
  if (!text) return fail(text.error());
  text_ = *std::move(text);
  const std::string compiler = compiler_of(order_);
  // What else of the host is shown can change what comes out without a trace in its name. Where
  // there is no compiler the box says so.
  if (compiler.empty() || !program.mounts.empty()) return compile();
  const auto hash = name_of(order_, compiler, text_, program);
  if (!hash) return fail(hash.error());
  ask_cache(*hash);
}

void CompilePart::ask_cache(const std::string& hash) {
  auto cache = ContentCache::open("compiled");
  if (!cache) {
    not_kept_because_ = cache.error().message();
    return compile();
  }
  claim_ = std::make_unique<CacheClaim>(*loop_, *std::move(cache), hash);
  claim_->start([this](sys::Result<CacheAnswer> answer) { on_answer(std::move(answer)); });
}

void CompilePart::on_answer(sys::Result<CacheAnswer> answer) {
  if (!answer) {
    not_kept_because_ = answer.error().message();
    return compile();
  }
  if (answer->build) {
    build_ = std::move(answer->build);
    return compile();
  }
  StageRecord& record = notes_->compile.emplace();
  record.status = RunStatus::exited;
  record.exit_code = 0;
  record.cached = true;
  place_entry(*std::move(answer->entry));
}

sys::Result<RunSpec> CompilePart::make_spec() {
  const policies::CompileStep& step = order_.runner.compile;
  RunSpec spec = stage_spec(*program_, order_.limits);
  policies::Limits limits = order_.limits;
  if (auto known = limits.resolve(static_cast<unsigned>(host_->cpus().size()), /*captured=*/true);
      !known) {
    return tl::unexpected(std::move(known).error());
  }
  for (const std::string_view variable : step.environment) {
    set_variable(spec.environment, variable);
  }
  if (auto shared = share_files(*program_, spec); !shared) {
    return tl::unexpected(std::move(shared).error());
  }
  for (policies::Mount mount : program_->mounts) {
    mount.mode = policies::MountMode::read_only;
    if (mount.target == "/box") mount.target = kDirectory;
    spec.mounts.push_back(std::move(mount));
  }
  CommandPlaces places = {order_.interpreter, order_.source.name,
                          "/box/" + std::string(step.output), std::nullopt};
  if (order_.directory.empty()) {
    sys::UniqueFd content(::fcntl(order_.source.content.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (!content.is_open()) return tl::unexpected(sys::errno_error("share the source"));
    spec.files.push_back({"/box/" + order_.source.name, std::move(content), 0644});
  } else {
    spec.cwd = std::string(kDirectory) + order_.directory;
  }
  fill_command(step.command, order_.runner, places, limits, spec);
  return spec;
}

void CompilePart::compile() {
  auto spec = make_spec();
  if (!spec) return fail(spec.error());
  run_ = std::make_unique<StageRun>(*loop_, *host_);
  run_->start(
      *std::move(spec),
      [this](int box_directory, const RunRecord& record) { take_output(box_directory, record); },
      [this](const RunRecord& record) { on_compiled(record); });
}

void CompilePart::take_output(int box_directory, const RunRecord& record) {
  if (!record.success()) return;
  binary_ = copy_compiled(box_directory, std::string(order_.runner.compile.output),
                          build_ ? build_->path() : "");
}

void CompilePart::on_compiled(const RunRecord& record) {
  StageRecord& stage = notes_->compile.emplace(stage_record_of(record));
  if (!record.success()) return refuse(record);
  if (!binary_) {
    stage.error = binary_.error().message();
    return fail({.status = RunStatus::compile_failed,
                 .error = "compile " + order_.source.name + ": " + stage.error});
  }
  if (build_) {
    binary_->reset();  // what is open for writing can't be executed
    auto entry = build_->publish();
    if (!entry) return fail(entry.error());
    return place_entry(*std::move(entry));
  }
  place(*std::move(binary_));
}

void CompilePart::refuse(const RunRecord& record) {
  PartFailure failure = stage_failure(record, RunStatus::compile_failed,
                                      "compile " + order_.source.name, order_.limits_place);
  if (record.status == RunStatus::exited) {
    const auto& errors = order_.runner.compile.errors;
    auto error = first_error(errors, record.err.text);
    if (!error) error = first_error(errors, record.out.text);
    failure.error_type = "CompileError";
    if (error) tell_error(*error, order_.source.name, text_, failure);
  }
  fail(std::move(failure));
}

// Where a program may execute nothing that it can write to, the entry itself is shown.
void CompilePart::place_entry(CacheEntry entry) {
  if (program_->execute_writable) return place(std::move(entry.fd));
  shown_ = std::move(entry);
  std::ranges::replace(program_->argv, order_.target, std::string(kShownAt));
  program_->system_mounts.push_back(
      {shown_->path, std::string(kShownAt), policies::MountMode::read_only});
  finish(std::nullopt);
}

void CompilePart::place(sys::UniqueFd binary) {
  program_->files.push_back({order_.target, std::move(binary), 0755});
  finish(std::nullopt);
}

void CompilePart::stop(int signal) {
  if (!done_) return;
  if (run_) return run_->stop(signal);
  fail({.status = RunStatus::stopped,
        .error = "stopped by " + signal_name(signal),
        .stop_signal = signal});
}

void CompilePart::fail(PartFailure failure) {
  if (notes_->compile && notes_->compile->error.empty()) notes_->compile->error = failure.error;
  finish(std::move(failure));
}

void CompilePart::fail(const sys::Error& error) {
  fail({.status = RunStatus::setup_failed,
        .error = "compile " + order_.source.name + ": " + error.message()});
}

// The right to build goes at once, so that nobody waits for what will not come.
void CompilePart::finish(std::optional<PartFailure> failure) {
  build_.reset();
  if (claim_ && claim_->is_waiting()) claim_.reset();
  const Done done = std::move(done_);
  done(std::move(failure));
}

void CompilePart::after(EventLoop& loop, int box_directory, RunRecord& record,
                        std::function<void()> resume) {
  if (!not_kept_because_.empty()) {
    record.isolation.degraded.push_back({"compile_cache", not_kept_because_,
                                         "the program is compiled each time",
                                         "let XDG_CACHE_HOME be a directory of your own"});
  }
  JobPart::after(loop, box_directory, record, std::move(resume));
}

}  // namespace wardcase::supervisor
