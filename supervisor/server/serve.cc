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
#include "supervisor/server/listener.h"
#include "supervisor/server/readiness.h"
#include "supervisor/server/run_queue.h"
#include "supervisor/server/run_registry.h"
#include "supervisor/server/serve_options.h"
#include "supervisor/server/server.h"
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

sys::Result<std::vector<Listener>> open_listeners(const std::optional<std::string>& asked) {
  std::vector<Listener> listeners;
  auto handed = take_handed_sockets();
  if (!handed) return tl::unexpected(std::move(handed).error());
  for (sys::UniqueFd& socket : *handed) {
    auto listener = Listener::adopt(std::move(socket));
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
  auto listener = Listener::open(address);
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
  Service(EventLoop& loop, Host& host, const ServeOptions& options, std::vector<Listener> listeners,
          SessionPlaces places, Telemetry& telemetry)
      : loop_(loop),
        telemetry_(telemetry),
        queue_(loop, options.queue, runs_on(loop, host)),
        readiness_(loop, host, runs_on(loop, host)),
        sessions_(loop, queue_, std::move(places), options.sessions),
        registry_(loop, queue_, options.registry),
        api_(loop, host, registry_, queue_, sessions_, readiness_, telemetry_),
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
  void on_signal(int signal);
  void feed_watchdog(std::chrono::microseconds interval);
  void tell_status_soon();
  void tell_status();

  EventLoop& loop_;
  Telemetry& telemetry_;
  RunQueue queue_;
  Readiness readiness_;
  SessionRegistry sessions_;
  RunRegistry registry_;  // its runs may be of sessions
  Api api_;
  Server server_;
  EventLoop::TimerId watchdog_ = 0;
  EventLoop::TimerId status_ = 0;
};

AskedProgram program_of(const KnownRun& run) {
  const RunTerms& terms = run.terms();
  return {terms.owner, "run", terms.policy, terms.network, terms.code_sha256, terms.trace};
}

sys::Status Service::run() {
  Signals signals(loop_);
  auto opened = signals.open([this](int signal) { on_signal(signal); });
  if (!opened) return opened;
  queue_.on_change([this] {
    tell_status_soon();
    server_.look_whether_done();
  });
  telemetry_.take_gauges([this] {
    return Metrics::Gauges{queue_.running(), queue_.waiting(), server_.connections(),
                           readiness_.why_not().empty()};
  });
  registry_.on_record([this](const KnownRun& run, const RunRecord& record) {
    telemetry_.on_record(program_of(run), record);
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

void Service::on_signal(int signal) {
  if (signal == SIGCONT || signal == SIGWINCH) return;
  if (signal == SIGTSTP) return stop_ourselves();
  tell_manager("STOPPING=1");
  server_.drain(SIGTERM, [this] {
    // Who asks again now gets what he asked for; what is ours still has to be removed.
    for (const int late : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) (void)::signal(late, SIG_IGN);
    loop_.stop();
  });
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
  tell_manager(line);
}

}  // namespace

int serve(std::span<const std::string> words) {
  Host host({}, enter_user_scope, make_user_pool);
  const auto options = parse_serve_options(words, host.cpus().size());
  if (!options) return fail(options.error());
  raise_open_files();
  auto listeners = open_listeners(options->listen);
  if (!listeners) return fail(listeners.error());
  auto loop = EventLoop::create();
  if (!loop) return fail(loop.error());
  auto places = SessionPlaces::create(listeners->front().address());
  if (!places) return fail(places.error());
  Telemetry telemetry;
  settle_control_groups(host, telemetry.log());
  for (const Listener& listener : *listeners) {
    telemetry.log().inform("listening on " + listener.address(), {{"address", listener.address()}});
  }
  Service service(*loop, host, *options, *std::move(listeners), *std::move(places), telemetry);
  const auto served = service.run();
  return served ? 0 : fail(served.error());
}

}  // namespace wardcase::supervisor
