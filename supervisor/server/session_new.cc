// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/session_new.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "sandbox/sys/retry.h"
#include "supervisor/cli/console.h"
#include "supervisor/cli/session_options.h"
#include "supervisor/cli/signals.h"
#include "supervisor/cli/user_pool.h"
#include "supervisor/cli/user_scope.h"
#include "supervisor/languages/program.h"
#include "supervisor/languages/program_environment.h"
#include "supervisor/run/json_text.h"
#include "supervisor/server/keeper.h"
#include "supervisor/sessions/session_place.h"

namespace wardcase::supervisor {

namespace {

using policies::LimitId;

constexpr int kFailed = 125;
constexpr std::uint64_t kAsLongAsTheSession = 400ULL * 24 * 60 * 60 * 1000;  // milliseconds

int fail(const sys::Error& error) {
  Console(Verbosity::normal).say(error.message());
  return kFailed;
}

// Of the box: the session's programs have limits of time and output of their own.
sys::Result<RunSpec> make_box(const SessionOptions& options) {
  RunSpec spec;
  spec.mounts = options.box.mounts;
  spec.network = options.box.network;
  spec.take_policy(options.box.configuration.policy, options.box.configuration.syscalls);
  spec.limits = options.box.limits;
  for (const LimitId id : {LimitId::timeout, LimitId::cpu_time}) {
    spec.limits.set_maximum(id, {std::nullopt});
    spec.limits.require(id, kAsLongAsTheSession);
  }
  spec.limits.require(LimitId::idle_timeout, std::nullopt);
  spec.capture = Capture::count;
  spec.oom = policies::OomAnswer::go_on;  // the interpreter's end is told, the box's is not wanted
  spec.environment = {};
  if (const auto shown = show_etc(options.box.configuration.languages, spec); !shown) {
    return tl::unexpected(sys::plain_error(shown.error().error));
  }
  return spec;
}

sys::Result<SessionSpec> make_spec(const std::shared_ptr<const SessionOptions>& shared,
                                   unsigned cpus) {
  const SessionOptions& options = *shared;
  const policies::LanguageSet& languages = options.box.configuration.languages;
  SessionSpec spec;
  spec.id = options.id;
  spec.default_language = options.language;
  spec.made_with = options.words;
  spec.preludes = options.preludes;
  spec.make_box = [shared] { return make_box(*shared); };
  spec.languages = {shared, &languages};
  spec.policy = {shared, &options.box.configuration.policy};
  policies::Limits limits = options.box.limits;
  if (auto known = limits.resolve(cpus, /*captured=*/true); !known) {
    return tl::unexpected(known.error());
  }
  spec.environment = standard_environment(limits, languages.all(), Audience::nobody);
  set_variables(spec.environment, options.box.environment);
  return spec;
}

// The keeper itself. `ready`: where it says that it takes clients, or what went wrong.
int keep(const std::shared_ptr<const SessionOptions>& options, Listener listener,
         sys::UniqueFd ready) {
  auto loop = EventLoop::create();
  if (!loop) return fail(loop.error());
  Host host({}, enter_user_scope, make_user_pool);
  auto spec = make_spec(options, static_cast<unsigned>(host.cpus().size()));
  if (!spec) return fail(spec.error());
  Keeper keeper(*loop, host, std::move(listener), *std::move(spec),
                {options->box.limits, options->ttl, options->idle_ttl});
  Signals signals(*loop);
  auto opened = signals.open([&](int signal) {
    if (signal == SIGTERM || signal == SIGINT) keeper.close();  // a shell's end is not ours
  });
  if (opened) opened = keeper.open();
  if (!opened) return fail(opened.error());
  (void)sys::retry_eintr([&] { return ::write(ready.get(), "k", 1); });
  ready.reset();
  // From here there is nobody to be told anything.
  const sys::UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    (void)::dup2(nothing.get(), fd);
  }
  return loop->run() ? 0 : kFailed;
}

// In a session of its own, below nobody: the shell that made it may end.
[[noreturn]] void become_keeper(const std::shared_ptr<const SessionOptions>& options,
                                Listener listener, sys::UniqueFd ready) {
  if (::setsid() < 0 || ::chdir("/") < 0) ::_exit(kFailed);
  const pid_t keeper = ::fork();
  if (keeper != 0) ::_exit(keeper < 0 ? kFailed : 0);
  const int code = keep(options, std::move(listener), std::move(ready));
  std::exit(code);
}

sys::Status start_keeper(const std::shared_ptr<const SessionOptions>& options) {
  const auto directory = sessions_directory();
  if (!directory) return tl::unexpected(directory.error());
  auto listener = Listener::open("unix:" + session_socket(*directory, options->id));
  if (!listener) {
    return tl::unexpected(
        std::move(listener).error().while_doing("session '" + options->id + "' can't be made"));
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) return tl::unexpected(sys::errno_error("make a pipe"));
  const sys::UniqueFd hear(ends[0]);
  sys::UniqueFd say(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return tl::unexpected(sys::errno_error("fork the keeper"));
  if (child == 0) become_keeper(options, *std::move(listener), std::move(say));
  say.reset();
  listener->disown();
  (void)sys::retry_eintr([&] { return ::waitpid(child, nullptr, 0); });
  char told = 0;
  if (sys::retry_eintr([&] { return ::read(hear.get(), &told, 1); }) == 1) return {};
  return tl::unexpected(sys::plain_error("the session's keeper did not start"));
}

}  // namespace

int session_new(std::span<const std::string> words) {
  auto parsed = parse_session_options(words);
  if (!parsed) return fail(parsed.error());
  const auto options = std::make_shared<const SessionOptions>(*std::move(parsed));
  const policies::Policy& policy = options->box.configuration.policy;
  if (policy.confinement->value != policies::Confinement::namespaces) {
    return fail(sys::plain_error("session new: policy '" + policy.name->value +
                                 "' makes boxes without namespaces, in which nothing lives on"));
  }
  if (const auto started = start_keeper(options); !started) return fail(started.error());
  const bool is_json = options->box.mode == OutputMode::json;
  const std::string told =
      is_json ? "{\"session_id\":" + json_string(options->id) + "}" : options->id;
  return write_all(STDOUT_FILENO, told + "\n") ? 0 : kFailed;
}

}  // namespace wardcase::supervisor
