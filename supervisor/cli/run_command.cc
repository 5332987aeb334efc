// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/run_command.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "sandbox/sys/retry.h"
#include "supervisor/cli/caller_terminal.h"
#include "supervisor/cli/console.h"
#include "supervisor/cli/dry_run.h"
#include "supervisor/cli/explain_command.h"
#include "supervisor/cli/help.h"
#include "supervisor/cli/run_files.h"
#include "supervisor/cli/run_in_session.h"
#include "supervisor/cli/run_options.h"
#include "supervisor/cli/run_output.h"
#include "supervisor/cli/run_report.h"
#include "supervisor/cli/signals.h"
#include "supervisor/cli/user_pool.h"
#include "supervisor/cli/user_scope.h"
#include "supervisor/config/mounts.h"
#include "supervisor/languages/artifacts.h"
#include "supervisor/languages/job_run.h"
#include "supervisor/run/host.h"
#include "supervisor/run/refused_calls.h"

namespace wardcase::supervisor {

namespace {

constexpr int kFailed = 125;
constexpr int kSignalBase = 128;

int fail(const Console& console, const sys::Error& error) {
  console.say(error.message());
  return kFailed;
}

sys::Result<sys::UniqueFd> open_stdin(const RunOptions& options) {
  if (options.pass_stdin) {
    sys::UniqueFd copy(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    struct stat info = {};
    if (!copy.is_open() || ::fstat(copy.get(), &info) < 0) {
      return tl::unexpected(sys::errno_error("-i: stdin"));
    }
    if (S_ISDIR(info.st_mode)) return tl::unexpected(sys::Error{EISDIR, "-i: stdin"});
    return copy;
  }
  if (!options.stdin_file) return sys::UniqueFd();
  const std::string what = "--stdin " + *options.stdin_file;
  sys::UniqueFd file(sys::retry_eintr(
      [&] { return ::open(options.stdin_file->c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY); }));
  struct stat info = {};
  if (!file.is_open() || ::fstat(file.get(), &info) < 0) {
    return tl::unexpected(sys::errno_error(what));
  }
  if (S_ISDIR(info.st_mode)) return tl::unexpected(sys::Error{EISDIR, what});
  return file;
}

// Everything but the program itself.
sys::Result<Job> make_job(const RunOptions& options) {
  Job job;
  RunSpec& spec = job.spec;
  spec.id = make_id("run_");
  spec.cwd = options.cwd;
  spec.mounts = options.mounts;
  spec.system_mounts = options.interpreter_mounts;
  spec.network = options.network;
  spec.take_policy(options.configuration.policy, options.configuration.syscalls);
  spec.limits = options.limits;
  spec.merge_stderr = options.merge_stderr;
  spec.encoding_fallback = options.encoding_fallback;
  spec.capture = Capture::keep;
  if (options.mode == OutputMode::pass_through) {
    spec.capture = options.status_fd ? Capture::keep_beside : Capture::count;
  }
  if (options.terminal) {
    if (auto ours = CallerTerminal::await_foreground(); !ours) return tl::unexpected(ours.error());
    spec.terminal = CallerTerminal::size();
  }
  auto source = open_stdin(options);
  if (!source) return tl::unexpected(std::move(source).error());
  spec.stdin_source = *std::move(source);
  return job;
}

// What is put into the box beside the program, and what is brought out of it.
sys::Status add_files(const RunOptions& options, Job& job) {
  if (auto placed = place_named_files(options.files, job.spec); !placed) return placed;
  const bool has_record = options.mode != OutputMode::pass_through || options.status_fd;
  const bool is_run = !options.dry_run && options.source.validation != Validation::alone;
  if (!is_run || !(has_record || options.out)) return {};  // nobody hears of artifacts
  std::optional<OutDirectory> out;
  if (options.out) {
    auto opened = OutDirectory::open(*options.out);
    if (!opened) return tl::unexpected(std::move(opened).error().while_doing("--out"));
    out.emplace(*std::move(opened));
  }
  job.parts.push_back(make_artifacts_part(std::move(out)));
  return {};
}

// The run and those who hear of it, on one loop.
class Conductor {
 public:
  Conductor(EventLoop& loop, Host& host, const RunOptions& options, const Console& console)
      : loop_(loop),
        options_(options),
        console_(console),
        run_(loop, host),
        output_(loop, run_, options) {}

  // `refusal`: there is nothing to run, and this is its record.
  [[nodiscard]] int conduct(Job job, const std::optional<RunRecord>& refusal);

 private:
  [[nodiscard]] sys::Status turn(Job job, const std::optional<RunRecord>& refusal);
  void on_signal(int signal, CallerTerminal& terminal);
  void resume(CallerTerminal& terminal);
  [[nodiscard]] int exit_code() const;
  void tell_end() const;

  EventLoop& loop_;
  const RunOptions& options_;
  const Console& console_;
  JobRun run_;
  RunOutput output_;
  int late_signal_ = 0;  // came when the run was over and only its readers were waited for
};

int Conductor::conduct(Job job, const std::optional<RunRecord>& refusal) {
  const auto turned = turn(std::move(job), refusal);
  // Signals do what they always do again: writing to stderr may wait.
  if (!turned) return fail(console_, turned.error());
  if (late_signal_ == 0 && !output_.has_given_up()) tell_end();
  if (output_.record()) remember_run(*output_.record(), console_);
  return exit_code();
}

sys::Status Conductor::turn(Job job, const std::optional<RunRecord>& refusal) {
  Signals signals(loop_);
  CallerTerminal terminal;  // after the signals: restored before one of them can end us
  auto opened = signals.open([&](int signal) { on_signal(signal, terminal); });
  if (opened) opened = output_.open();
  if (opened && options_.terminal) opened = terminal.make_raw();
  if (!opened) return opened;
  if (refusal) {
    loop_.post([&] { output_.on_end(*refusal); });
  } else {
    run_.start(std::move(job), output_);
  }
  return loop_.run();
}

void Conductor::on_signal(int signal, CallerTerminal& terminal) {
  if (signal == SIGTSTP) {
    run_.set_frozen(true);
    terminal.restore();
    stop_ourselves();
    resume(terminal);
    run_.set_frozen(false);
  } else if (signal == SIGCONT || signal == SIGWINCH) {
    resume(terminal);
  } else if (output_.record()) {
    late_signal_ = signal;
    loop_.stop();
  } else {
    run_.stop(signal);
  }
}

// After a stop the terminal may be as the shell wants it, and of another size.
void Conductor::resume(CallerTerminal& terminal) {
  if (!options_.terminal) return;
  (void)terminal.make_raw();  // one that is gone says so when it is read and written
  run_.resize_terminal(CallerTerminal::size());
}

int Conductor::exit_code() const {
  if (late_signal_ != 0) return kSignalBase + late_signal_;
  const RunRecord& record = *output_.record();
  if (output_.write_error() == EPIPE) return kSignalBase + SIGPIPE;
  if (output_.write_error() != 0 || !output_.saved()) return kFailed;
  return options_.exit_zero ? 0 : exit_code_of(record);
}

void Conductor::tell_end() const {
  const RunRecord& record = *output_.record();
  if (const int error = output_.write_error(); error != 0 && error != EPIPE) {
    console_.say(sys::Error{error, "write the output"}.message());
  }
  if (!output_.saved()) console_.say(output_.saved().error().message());
  for (const std::string& line : describe_refusals(record)) console_.say(line);
  if (const std::string reason = explain_end(record); !reason.empty()) console_.say(reason);
  if (record.unkillable) console_.say("some processes could not be killed and still exist");
  const bool is_told = options_.mode != OutputMode::pass_through ||  // the record has it
                       record.hint == hint_of_refusal(record);       // the lines above have it
  if (!record.hint.empty() && !is_told) console_.say("hint: " + record.hint, Tone::hint);
  if (!record.left_out.empty() && record.hint != record.left_out) {
    console_.say(record.left_out);
  }
  if (!record.isolation.effective.empty()) {
    for (const std::string& line : describe_isolation(record)) console_.say_more(line);
  }
  if (options_.timing) {
    for (const std::string& line : describe_timing(run_.timing())) {
      console_.say(line, Tone::plain);
    }
  }
}

int show_dry_run(EventLoop& loop, Host& host, const RunOptions& options, Job job,
                 const std::optional<RunRecord>& refusal, const Console& console) {
  const auto dry_run = rehearse(loop, host, options, std::move(job), refusal);
  if (!dry_run) return fail(console, dry_run.error());
  const bool is_json = options.dry_run == DryRunForm::json;
  if (!write_all(STDOUT_FILENO, is_json ? to_json(*dry_run) + "\n" : to_text(*dry_run))) {
    return kFailed;
  }
  if (!dry_run->would_run()) console.say(explain_end(dry_run->record));
  return options.exit_zero ? 0 : exit_code_of(*dry_run);
}

}  // namespace

int run_command(std::span<const std::string> words) {
  const auto options = parse_run_options(words);
  if (!options) return fail(Console(Verbosity::normal), options.error());
  if (options->help) return print_run_help();
  if (options->session) return run_in_session(*options);
  const Console console(options->verbosity, options->color);
  for (const policies::Mount& mount : options->mounts) {
    if (!shows_sockets(mount)) continue;
    console.say("'" + mount.source + "' shows sockets: the program can talk to who listens there",
                Tone::doubtful);
  }
  auto job = make_job(*options);
  if (!job) return fail(console, job.error());
  Host host({}, enter_user_scope, make_user_pool);
  std::optional<RunRecord> refusal;
  if (auto filled = fill_program(options->source, options->configuration, options->environment,
                                 static_cast<unsigned>(host.cpus().size()), *job);
      !filled) {
    refusal = filled.error().record(job->spec);
  } else if (auto added = add_files(*options, *job); !added) {
    return fail(console, added.error());
  }
  auto loop = EventLoop::create();
  if (!loop) return fail(console, loop.error());
  if (options->dry_run) {
    return show_dry_run(*loop, host, *options, *std::move(job), refusal, console);
  }
  Conductor conductor(*loop, host, *options, console);
  return conductor.conduct(*std::move(job), refusal);
}

}  // namespace wardcase::supervisor
