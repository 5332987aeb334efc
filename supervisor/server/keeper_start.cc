// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/keeper_start.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "sandbox/sys/files.h"
#include "sandbox/sys/retry.h"
#include "supervisor/cli/console.h"
#include "supervisor/cli/signals.h"
#include "supervisor/cli/user_pool.h"
#include "supervisor/cli/user_scope.h"
#include "supervisor/languages/program.h"
#include "supervisor/languages/program_environment.h"
#include "supervisor/server/keeper.h"

namespace wardcase::supervisor {

namespace {

using policies::LimitId;

constexpr int kFailed = 125;
constexpr std::uint64_t kAsLongAsTheSession = 400ULL * 24 * 60 * 60 * 1000;  // milliseconds

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

// What a session begins with, before anybody can use it: an empty program with its requirements.
class FirstProgram : public ExecObserver {
 public:
  // `on_done` gets "", or why there is to be no session.
  explicit FirstProgram(std::function<void(const std::string& failure)> on_done)
      : on_done_(std::move(on_done)) {}

  [[nodiscard]] sys::Status start(Session& session, const SessionOptions& options,
                                  policies::Limits limits) {
    ExecRequest request;
    request.language = options.language;
    request.name = "session-new";
    request.limits = std::move(limits);
    request.requirements = options.requirements;
    request.validation = Validation::alone;  // a prelude is the first real program's
    const auto id = session.exec(std::move(request), this);
    if (!id) return tl::unexpected(id.error());
    return {};
  }

 private:
  void on_start(std::string_view) override {}
  void on_output(Stream, std::string_view) override {}
  void on_waiting_for_input() override {}
  void on_end(const RunRecord& record) override {
    if (record.success()) return on_done_("");
    on_done_(record.error + (record.hint.empty() ? "" : "\nhint: " + record.hint));
  }

  std::function<void(const std::string& failure)> on_done_;
};

// Whoever asked for a session, by a pipe: is told how it went, and is watched, as a session that is
// not made yet is nobody's without him.
class Asker {
 public:
  Asker(EventLoop& loop, sys::UniqueFd pipe) : loop_(loop), pipe_(std::move(pipe)) {}
  Asker(const Asker&) = delete;
  Asker& operator=(const Asker&) = delete;
  ~Asker() { loop_.forget(pipe_.get()); }

  [[nodiscard]] sys::Status watch(const std::function<void()>& gone) {
    return loop_.watch(pipe_.get(), 0, [this, gone](std::uint32_t) {
      loop_.forget(pipe_.get());
      pipe_.reset();
      gone();
    });
  }
  // "": there is a session. Nobody is told anything any more.
  void tell(const std::string& failure) {
    if (!pipe_.is_open()) return;
    loop_.forget(pipe_.get());
    (void)write_all(pipe_.get(), {failure.c_str(), failure.size() + 1});
    pipe_.reset();
  }

 private:
  EventLoop& loop_;
  sys::UniqueFd pipe_;
};

void leave_terminal() {
  const sys::UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    (void)::dup2(nothing.get(), fd);
  }
}

// The session's life. What came in its way is left in `failure`.
sys::Status keep_session(EventLoop& loop, const std::shared_ptr<const SessionOptions>& options,
                         Listener listener, Asker& asker, std::string& failure) {
  Host host({}, enter_user_scope, make_user_pool);
  const auto cpus = static_cast<unsigned>(host.cpus().size());
  auto spec = make_spec(options, cpus);
  if (!spec) return tl::unexpected(spec.error());
  policies::Limits limits = options->box.limits;
  auto opened = limits.resolve(cpus, /*captured=*/true);
  if (!opened) return opened;
  std::optional<FirstProgram> first;  // which the keeper's session may tell of its end
  Keeper keeper(loop, host, std::move(listener), *std::move(spec),
                {options->box.limits, options->ttl, options->idle_ttl});
  Signals signals(loop);
  opened = signals.open([&](int signal) {
    if (signal == SIGTERM || signal == SIGINT) keeper.close();  // a shell's end is not ours
  });
  if (!opened) return opened;
  const auto begin = [&](const std::string& why_not) {
    failure = why_not;
    const auto taking = failure.empty() ? keeper.open() : sys::Status();
    if (!taking) failure = taking.error().message();
    if (!failure.empty()) return keeper.close();
    asker.tell("");
    leave_terminal();
  };
  first.emplace([&](const std::string& why_not) { loop.post([&, why_not] { begin(why_not); }); });
  opened = asker.watch([&] { keeper.close(); });
  if (opened && options->requirements.empty()) {
    begin("");
  } else if (opened) {
    opened = first->start(keeper.session(), *options, std::move(limits));
  }
  if (!opened) return opened;
  return loop.run();
}

int keep(const std::shared_ptr<const SessionOptions>& options, Listener listener,
         sys::UniqueFd pipe) {
  auto loop = EventLoop::create();
  if (!loop) {
    Console(Verbosity::normal).say(loop.error().message());
    return kFailed;
  }
  Asker asker(*loop, std::move(pipe));
  std::string failure;
  const auto kept = keep_session(*loop, options, std::move(listener), asker, failure);
  if (!kept) failure = kept.error().message();
  // Where it did not come to be, nothing of it is left when that is told.
  if (failure.empty()) failure = "it was ended before it began";
  asker.tell(failure);
  return kept ? 0 : kFailed;
}

// What a caller has open without knowing, as the lock of a script, would live as long as we do.
// All that we open ourselves is closed by an exec.
void close_what_was_inherited() {
  for (const std::string& name : sys::list_directory("/proc/self/fd", DT_LNK)) {
    const int fd = std::atoi(name.c_str());
    const int flags = ::fcntl(fd, F_GETFD);
    if (fd > STDERR_FILENO && flags >= 0 && (flags & FD_CLOEXEC) == 0) (void)::close(fd);
  }
}

// In a session of its own, below nobody: the shell that made it may end.
[[noreturn]] void become_keeper(const std::shared_ptr<const SessionOptions>& options,
                                Listener listener, sys::UniqueFd pipe) {
  if (::setsid() < 0 || ::chdir("/") < 0) ::_exit(kFailed);
  const pid_t keeper = ::fork();
  if (keeper != 0) ::_exit(keeper < 0 ? kFailed : 0);
  close_what_was_inherited();
  const int code = keep(options, std::move(listener), std::move(pipe));
  std::exit(code);
}

// What Asker::tell wrote; nullopt: nothing.
std::optional<std::string> hear_failure(int pipe) {
  std::string told;
  char next = 0;
  while (sys::retry_eintr([&] { return ::read(pipe, &next, 1); }) == 1) {
    if (next == '\0') return told;
    told += next;
  }
  return std::nullopt;
}

}  // namespace

sys::Status start_keeper(const std::shared_ptr<const SessionOptions>& options,
                         const std::string& socket) {
  const policies::Policy& policy = options->box.configuration.policy;
  if (policy.confinement->value != policies::Confinement::namespaces) {
    return tl::unexpected(
        sys::plain_error("policy '" + policy.name->value +
                         "' makes boxes without namespaces, in which nothing lives on"));
  }
  auto listener = Listener::open("unix:" + socket);
  if (!listener) {
    return tl::unexpected(
        std::move(listener).error().while_doing("session '" + options->id + "' can't be made"));
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) return tl::unexpected(sys::errno_error("make a pipe"));
  sys::UniqueFd hear(ends[0]);
  sys::UniqueFd say(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return tl::unexpected(sys::errno_error("fork the keeper"));
  if (child == 0) {
    hear.reset();  // else it would never see that we are gone
    become_keeper(options, *std::move(listener), std::move(say));
  }
  say.reset();
  listener->disown();
  (void)sys::retry_eintr([&] { return ::waitpid(child, nullptr, 0); });
  const auto failure = hear_failure(hear.get());
  if (!failure) return tl::unexpected(sys::plain_error("the session's keeper did not start"));
  if (failure->empty()) return {};
  return tl::unexpected(sys::plain_error("session '" + options->id + "': " + *failure));
}

}  // namespace wardcase::supervisor
