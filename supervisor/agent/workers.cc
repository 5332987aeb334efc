// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/agent/workers.h"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "sandbox/sys/retry.h"
#include "supervisor/agent/datagram.h"
#include "supervisor/agent/program_start.h"

// One loop over two descriptors: what the supervisor says, and the signals that came. The agent
// believes its socket alone; what runs beside it in the box has its user id, and may send it any
// signal. Those that can be blocked are, and only somebody outside of the box ends it by one.
namespace wardcase::agent {

namespace {

constexpr int kPatienceMs = 2000;  // for the ends of all that was killed

struct Worker {
  std::uint32_t id = 0;
  pid_t pid = 0;  // 0: a free place
};

std::array<Worker, kMaxWorkers> workers;
alignas(StartHead) std::array<char, kMaxMessage> buffer;

[[noreturn]] void leave() noexcept { ::_exit(0); }

template <typename Head>
void tell(const Head& head) noexcept {
  if (!send_head(head)) leave();
}

Worker* find_by_pid(pid_t pid) noexcept {
  for (Worker& worker : workers) {
    if (worker.pid == pid) return &worker;
  }
  return nullptr;
}

Worker* find_by_id(std::uint32_t id) noexcept {
  for (Worker& worker : workers) {
    if (worker.pid != 0 && worker.id == id) return &worker;
  }
  return nullptr;
}

std::uint64_t microseconds(const timeval& time) noexcept {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 +
         static_cast<std::uint64_t>(time.tv_usec);
}

void tell_end(Worker& worker, int status, const rusage& usage) noexcept {
  const bool exited = WIFEXITED(status);
  tell(Ended{.kind = Kind::ended,
             .id = worker.id,
             .code = exited ? CLD_EXITED : (WCOREDUMP(status) ? CLD_DUMPED : CLD_KILLED),
             .status = exited ? WEXITSTATUS(status) : WTERMSIG(status),
             .user_us = microseconds(usage.ru_utime),
             .system_us = microseconds(usage.ru_stime),
             .peak_memory_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) << 10});
  worker = {};
}

void reap() noexcept {
  for (;;) {
    int status = 0;
    rusage usage = {};
    const pid_t pid =
        sys::retry_eintr([&]() noexcept { return ::wait4(-1, &status, WNOHANG, &usage); });
    if (pid <= 0) return;
    if (Worker* const worker = find_by_pid(pid); worker != nullptr)
      tell_end(*worker, status, usage);
  }
}

void start_worker(const Received& received) noexcept {
  ProgramStart start;
  Started answer = {.kind = Kind::started, .id = 0, .pid = -1, .error = EBADMSG};
  StartHead head = {};
  if (received.message.size() >= sizeof head) {
    std::memcpy(&head, received.message.data(), sizeof head);
    answer.id = head.id;
  }
  if (!received.is_cut && received.descriptor_count == kStartDescriptors &&
      parse_start(received.message, start) && find_by_id(start.id) == nullptr) {
    Worker* const place = find_by_pid(0);
    const StartedProgram started =
        place == nullptr ? StartedProgram{-1, EAGAIN} : start_program(start, received.descriptors);
    if (started.pid > 0) *place = {start.id, started.pid};
    answer.pid = started.pid;
    answer.error = started.error;
  }
  tell(answer);
}

// As an ordinary child of some process a signal for everyone would reach the host's.
bool is_alone_with_init() noexcept { return ::getpid() == 2 && ::getppid() == 1; }

// Who was born meanwhile is killed the next time around.
int end_everyone() noexcept {
  const timespec pause = {0, 1'000'000};
  for (int i = 0; i < kPatienceMs; ++i) {
    if (::kill(-1, SIGKILL) < 0 && errno == ESRCH) return 0;
    reap();
    (void)::nanosleep(&pause, nullptr);
  }
  return ETIMEDOUT;
}

void signal_everyone(int signo) noexcept {
  const bool is_allowed = is_alone_with_init();
  if (signo != SIGKILL) {
    if (is_allowed) (void)::kill(-1, signo);
    return;
  }
  tell(EveryoneGone{.kind = Kind::everyone_gone, .error = is_allowed ? end_everyone() : EPERM});
}

// A worker's number stays its own as long as it is in the table: nobody else reaps it.
void send_signal(const SignalHead& head) noexcept {
  const bool is_signal = head.signo > 0 && head.signo < NSIG;
  if (head.whom == Whom::everyone) {
    if (is_signal) signal_everyone(head.signo);
    return;
  }
  const Worker* const worker = find_by_id(head.id);
  if (worker != nullptr && is_signal) {
    (void)::kill(head.whom == Whom::group ? -worker->pid : worker->pid, head.signo);
  }
  tell(Signalled{.kind = Kind::signalled, .id = head.id});
}

void obey() noexcept {
  const Received received = receive_datagram(buffer);
  if (received.message.empty()) leave();
  Kind kind = {};
  if (received.message.size() >= sizeof kind) {
    std::memcpy(&kind, received.message.data(), sizeof kind);
  }
  SignalHead head = {};
  if (kind == Kind::start) {
    start_worker(received);
  } else if (kind == Kind::signal && received.message.size() == sizeof head) {
    std::memcpy(&head, received.message.data(), sizeof head);
    send_signal(head);
  }
  for (std::size_t i = 0; i < received.descriptor_count; ++i) {
    (void)::close(received.descriptors[i]);
  }
}

int take_signals() noexcept {
  sigset_t blocked;
  (void)::sigfillset(&blocked);
  // What the kernel sends for our own faults would be lost otherwise.
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP}) {
    (void)::sigdelset(&blocked, fault);
  }
  if (::sigprocmask(SIG_SETMASK, &blocked, nullptr) < 0) return -1;
  sigset_t told;
  (void)::sigemptyset(&told);
  for (const int signo : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
    (void)::sigaddset(&told, signo);
  }
  return ::signalfd(-1, &told, SFD_CLOEXEC);
}

void answer_signal(int signals) noexcept {
  signalfd_siginfo signal = {};
  if (sys::retry_eintr([&]() noexcept { return ::read(signals, &signal, sizeof signal); }) !=
      sizeof signal) {
    return;
  }
  if (signal.ssi_signo == SIGCHLD) return reap();
  if (signal.ssi_pid != 0) return;  // 0: of nobody that the box has a number for
  reset_signals();
  (void)::raise(static_cast<int>(signal.ssi_signo));
}

}  // namespace

void serve_workers() noexcept {
  const int signals = take_signals();
  if (signals < 0) ::_exit(125);
  for (;;) {
    std::array<pollfd, 2> ready = {{{kControl, POLLIN, 0}, {signals, POLLIN, 0}}};
    if (::poll(ready.data(), ready.size(), -1) < 0) continue;  // interrupted
    if (ready[1].revents != 0) answer_signal(signals);
    if (ready[0].revents != 0) obey();
  }
}

}  // namespace wardcase::agent
