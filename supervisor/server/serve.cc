// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/serve.h"

#include <sys/resource.h>

#include <csignal>
#include <utility>
#include <vector>

#include "sandbox/state_lock.h"
#include "supervisor/cli/console.h"
#include "supervisor/cli/signals.h"
#include "supervisor/cli/user_pool.h"
#include "supervisor/cli/user_scope.h"
#include "supervisor/run/host.h"
#include "supervisor/server/api.h"
#include "supervisor/server/batch_registry.h"
#include "supervisor/server/listener.h"
#include "supervisor/server/quotas.h"
#include "supervisor/server/readiness.h"
#include "supervisor/server/run_queue.h"
#include "supervisor/server/run_registry.h"
#include "supervisor/server/serve_options.h"
#include "supervisor/server/server.h"
#include "supervisor/server/service_configuration.h"
#include "supervisor/server/service_manager.h"
#include "supervisor/server/session_registry.h"
#include "supervisor/server/telemetry.h"

namespace wardcase::supervisor {

namespace {

constexpr int kFailed = 125;
constexpr std::chrono::seconds kBetweenWords{1};  // of our state to the manager

int fail(const sys::Error& error) {
  Console(Verbosity::normal).say("serve: " + error.message());
  return kFailed;
}

// A run and a client take descriptors; the soft limit is made for programs that use select(2).
void raise_open_files() {
  rlimit files = {};
  if (::getrlimit(RLIMIT_NOFILE, &files) < 0) return;
  files.rlim_cur = files.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &files);  // with fewer, clients wait
}

sys::Result<std::vector<Listener>> open_listeners(const std::optional<std::string>& asked,
                                                  Reach reach) {
  std::vector<Listener> listeners;
  auto handed = take_handed_sockets();
  if (!handed) return tl::unexpected(std::move(handed).error());
  for (sys::UniqueFd& socket : *handed) {
    auto listener = Listener::adopt(std::move(socket), reach);
    if (!listener) return tl::unexpected(std::move(listener).error());
    listeners.push_back(*std::move(listener));
  }
  if (!listeners.empty()) return listeners;
  std::string address = asked.value_or("");
  if (!asked) {
    auto directory = sandbox::runtime_directory();
    if (!directory) return tl::unexpected(std::move(directory).error());
    address = "unix:" + *directory + "/api.sock";
  }
  auto listener = Listener::open(address, reach);
  if (!listener) return tl::unexpected(std::move(listener).error());
  listeners.push_back(*std::move(listener));
  return listeners;
}

// A group with processes in it can't hand its controllers on: this has us leave ours while
// nothing runs yet, and removes what a dead server left.
void settle_control_groups(Host& host, ServiceLog& log) {
  std::string why;
  auto leaf = host.make_cgroup({}, &why);
  if (leaf && *leaf != nullptr) (void)(*leaf)->remove();
  if (!leaf) why = leaf.error().message();
  if (!why.empty()) log.warn("control groups: " + why);
  host.sweep();
}

// The service and who hears of its state, on one loop.
class Service {
 public:
  Service(EventLoop& loop, Host& host, const ServeOptions& options,
          ServiceConfiguration configuration, std::vector<Listener> listeners, SessionPlaces places,
          Telemetry& telemetry)
      : loop_(loop),
        telemetry_(telemetry),
        configuration_(std::move(configuration)),
        quotas_(configuration_.quotas()),
        queue_(loop, options.queue, runs_on(loop, host)),
        readiness_(loop, host, configuration_, runs_on(loop, host)),
        sessions_(loop, queue_, std::move(places), options.sessions),
        registry_(loop, queue_, options.registry),
        batches_(loop, queue_, options.registry),
        api_(loop, host, configuration_, quotas_, registry_, batches_, sessions_, queue_,
             readiness_, telemetry_),
        server_(loop, options.server, std::move(listeners), api_, queue_, sessions_) {}
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  ~Service() {
    loop_.cancel(watchdog_);
    loop_.cancel(status_);
  }

  [[nodiscard]] sys::Status run();

 private:
  void keep_runs();
  void on_signal(const Signals::Signal& signal);
  void reload();
  void feed_watchdog(std::chrono::microseconds interval);
  void tell_status_soon();
  void tell_status();

  EventLoop& loop_;
  Telemetry& telemetry_;
  ServiceConfiguration configuration_;
  Quotas quotas_;
  RunQueue queue_;
  Readiness readiness_;
  SessionRegistry sessions_;
  RunRegistry registry_;  // its runs may be of sessions
  BatchRegistry batches_;
  Api api_;
  Server server_;
  EventLoop::TimerId watchdog_ = 0;
  EventLoop::TimerId status_ = 0;
};

AskedProgram program_of(const KnownWork& work, const std::string& kind) {
  const RunTerms& terms = work.terms();
  return {terms.owner, kind, terms.policy, terms.network, terms.code_sha256, terms.trace};
}

sys::Status Service::run() {
  Signals signals(loop_);
  auto opened = signals.open_told([this](const Signals::Signal& signal) { on_signal(signal); });
  if (!opened) return opened;
  queue_.on_change([this] {
    tell_status_soon();
    server_.look_whether_done();
  });
  telemetry_.take_gauges([this] {
    return Metrics::Gauges{queue_.running(), queue_.waiting(), server_.connections(),
                           readiness_.why_not().empty()};
  });
  queue_.on_end([this](const std::string& owner, const RunRecord& record) {
    quotas_.spend(owner, record.cpu.value_or(std::chrono::microseconds(0)));
  });
  registry_.on_record([this](const KnownRun& run, const RunRecord& record) {
    telemetry_.on_record(program_of(run, run.terms().kind), record);
    // The queue tells of the others.
    if (record.session_id) {
      quotas_.spend(run.terms().owner, record.cpu.value_or(std::chrono::microseconds(0)));
    }
    if (record.status == RunStatus::setup_failed) readiness_.doubt();
  });
  batches_.on_record([this](const KnownBatch& batch, const RunRecord& record) {
    telemetry_.on_record(program_of(batch, "case"), record);
    if (record.status == RunStatus::setup_failed) readiness_.doubt();
  });
  sessions_.find_again();
  keep_runs();
  if (const auto interval = watchdog_interval()) feed_watchdog(*interval / 2);
  // Whoever is there already waits for it: the first answer to /readyz is a true one.
  readiness_.look([&] {
    opened = server_.open();
    if (!opened) return loop_.stop();
    tell_manager("READY=1");
    tell_status();
  });
  const auto turned = loop_.run();
  return opened ? turned : opened;
}

// One that has no place to keep them in serves as well; only that they go with it.
void Service::keep_runs() {
  registry_.on_trouble([this](const sys::Error& error) {
    telemetry_.log().warn("what becomes of a run is not kept: " + error.message());
  });
  auto store = open_state("service", Missing::is_made).and_then([](OwnPlace place) {
    return RunStore::open(std::move(place));
  });
  if (store) return registry_.keep_in(*std::move(store));
  const bool is_taken = store.error().code == EWOULDBLOCK;
  telemetry_.log().warn("runs are forgotten when this service ends: " +
                        (is_taken ? "another one keeps its own there" : store.error().message()));
}

void Service::on_signal(const Signals::Signal& signal) {
  if (signal.number == SIGCONT || signal.number == SIGWINCH) return;
  if (signal.number == SIGTSTP) return stop_ourselves();
  // That of a terminal which has gone ends us, as it does all that runs in it.
  if (signal.number == SIGHUP && !signal.is_of_kernel) return reload();
  tell_manager("STOPPING=1");
  server_.drain(SIGTERM, [this] {
    // Who asks again now gets what he asked for; what is ours still has to be removed.
    for (const int late : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) (void)::signal(late, SIG_IGN);
    loop_.stop();
  });
}

void Service::reload() {
  tell_reloading();
  if (configuration_.reload()) {
    quotas_.exchange(configuration_.quotas());
    readiness_.doubt();
    telemetry_.log().inform("the configuration was read anew");
  } else {
    telemetry_.log().warn("not reloaded, all is as it was: " + configuration_.warning());
  }
  tell_manager("READY=1");
  tell_status();
}

// From the loop itself: one that no longer turns is to be noticed.
void Service::feed_watchdog(std::chrono::microseconds interval) {
  tell_manager("WATCHDOG=1");
  watchdog_ = loop_.at(Clock::now() + interval, [this, interval] { feed_watchdog(interval); });
}

void Service::tell_status_soon() {
  if (status_ == 0) status_ = loop_.at(Clock::now() + kBetweenWords, [this] { tell_status(); });
}

void Service::tell_status() {
  loop_.cancel(std::exchange(status_, 0));
  std::string line = "STATUS=" + std::to_string(queue_.running()) + " running, " +
                     std::to_string(queue_.waiting()) + " waiting, " +
                     std::to_string(server_.connections()) + " connected";
  if (!readiness_.why_not().empty()) line += "; not ready: " + printable(readiness_.why_not());
  const std::string& warning = configuration_.warning();
  if (!warning.empty()) line += "; not read: " + printable(warning);
  tell_manager(line);
}

// That of an option, else the manager's, else the configuration's.
std::optional<std::string> find_tokens(const ServeOptions& options,
                                       const policies::ServiceSettings& settings) {
  const bool is_configured = settings.tokens && options.tokens == settings.tokens->value;
  if (options.tokens && !is_configured) return options.tokens;
  auto credential = find_credential("tokens");
  return credential ? credential : options.tokens;
}

}  // namespace

int serve(std::span<const std::string> words) {
  Host host({}, enter_user_scope, make_user_pool);
  auto policies = ServicePolicies::read();
  if (!policies) return fail(policies.error());
  const policies::ServiceSettings& settings = policies->standard().policy.service;
  const auto options = parse_serve_options(words, settings, host.cpus().size());
  if (!options) return fail(options.error());
  const auto tokens = find_tokens(*options, settings);
  auto configuration = ServiceConfiguration::read(*std::move(policies), tokens);
  if (!configuration) return fail(configuration.error());
  raise_open_files();
  auto listeners = open_listeners(options->listen, tokens ? Reach::anywhere : Reach::this_host);
  if (!listeners) return fail(listeners.error());
  auto loop = EventLoop::create();
  if (!loop) return fail(loop.error());
  auto places = SessionPlaces::create(listeners->front().address());
  if (!places) return fail(places.error());
  Telemetry telemetry;
  if (!configuration->warning().empty()) telemetry.log().warn(configuration->warning());
  settle_control_groups(host, telemetry.log());
  for (const Listener& listener : *listeners) {
    telemetry.log().inform("listening on " + listener.address(), {{"address", listener.address()}});
  }
  Service service(*loop, host, *options, *std::move(configuration), *std::move(listeners),
                  *std::move(places), telemetry);
  const auto served = service.run();
  return served ? 0 : fail(served.error());
}

}  // namespace wardcase::supervisor
