// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <sys/epoll.h>

#include <cerrno>

#include "sandbox/sys/kernel.h"
#include "sandbox/sys/retry.h"
#include "supervisor/run/run_state.h"

// Calls that the policy refuses wait until they are answered here. One is answered a
// turn of the loop, and so many in a while: answering costs our time, which no limit of
// the box holds, and a program that asks for more of it only waits.
namespace wardcase::supervisor {
namespace {

constexpr std::string_view kFeature = "syscall_notification";
constexpr std::chrono::milliseconds kWhile{100};
constexpr int kAnswersInAWhile = 200;

Degraded describe_missing_listener(int error) {
  Degraded weaker = {std::string(kFeature), sys::Error{error, "make a listener"}.message(),
                     "refused calls get their errno untold; a kill ends the one process, by SIGSYS",
                     "a kernel from 5.0 with CONFIG_SECCOMP_FILTER"};
  if (error == EBUSY) {
    weaker.because = "a filter around us has a listener, and the kernel allows one";
    weaker.fix = "run wardcase outside of what listens there";
  }
  return weaker;
}

}  // namespace

void Run::Impl::watch_refusals(ReceivedMessage& ready) {
  if (!ready.descriptor.is_open()) {
    record.isolation.degraded.push_back(describe_missing_listener(ready.message.error));
    return;
  }
  listener = std::move(ready.descriptor);
  refused.emplace(made.syscalls, spec);
  auto watched = loop.watch(listener.get(), EPOLLIN,
                            [this](std::uint32_t events) { on_refused_call(events); });
  if (!watched) lose_track("listen for refused calls", watched.error().code);
}

void Run::Impl::on_refused_call(std::uint32_t events) {
  drain_setup();  // the exec comes before the program's first call
  if ((events & EPOLLIN) == 0) {
    loop.forget(listener.get());  // kept open: nobody is left that could ask
    return;
  }
  seccomp_notif call = {};
  if (sys::receive_notification(listener.get(), call) < 0) {
    // ENOENT: the caller was killed in between.
    if (errno != ENOENT && errno != EINTR) stop_listening(errno);
    return;
  }
  const RefusedCalls::Noted noted = refused->note(call.data);
  if (noted.answer == policies::Answer::kill) {
    set_cause(RunStatus::denied, "policy '" + spec.policy + "' ends the run at " +
                                     name_with_detail(noted.call) + ": " + noted.call.why);
    kill_tree();  // unanswered: it never gets past the call
    return;
  }
  const int sent = sys::retry_eintr(
      [&]() noexcept { return sys::answer_notification(listener.get(), call.id, EPERM); });
  if (sent < 0 && errno != ENOENT) return stop_listening(errno);
  slow_down_refusals();
}

// Without a listener the kernel answers ENOSYS to whoever waits and to all that come.
void Run::Impl::stop_listening(int error) {
  loop.forget(listener.get());
  listener.reset();
  refused.reset();
  record.isolation.degraded.push_back(
      {std::string(kFeature), sys::Error{error, "answer a refused call"}.message(),
       "calls that the policy refuses or kills get ENOSYS from then on", ""});
}

void Run::Impl::slow_down_refusals() {
  const Clock::time_point now = Clock::now();
  if (now >= refusals_since + kWhile) {
    refusals_since = now;
    refusals_answered = 0;
  }
  if (++refusals_answered < kAnswersInAWhile) return;
  if (!loop.change(listener.get(), 0)) return;
  refusal_timer = loop.at(refusals_since + kWhile, [this] {
    // Who waits must not do so for ever.
    const auto changed = loop.change(listener.get(), EPOLLIN);
    if (!changed) stop_listening(changed.error().code);
  });
}

}  // namespace wardcase::supervisor
