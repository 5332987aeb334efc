// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// A tracer sees each entry to and each exit from a system call. A call that is to fail is
// turned into one that does not exist, and gets its error on the way out: ptrace(2). Where a
// filter is loaded that could kill the process for it, the call stays and gets senseless arguments.
#include "tests/faults/traced_run.h"

#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <map>
#include <utility>

#include "tests/faults/confinement.h"
#include "tests/support/leak_check.h"

namespace wardcase::test {
namespace {

constexpr time_t kHangs = 25;  // wardcase's own bound of ten seconds twice over, and some
constexpr time_t kLingers = 3;
constexpr int kSyscallStop = SIGTRAP | 0x80;
constexpr long kOptions = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                          PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;

long trace(int request, pid_t pid, std::uintptr_t address, std::uintptr_t data) {
  return ::ptrace(static_cast<__ptrace_request>(request), pid, address, data);
}

// What the C library and the libraries' constructors do before main().
bool is_startup(long call) {
  constexpr long kCalls[] = {
      SYS_execve,          SYS_brk,       SYS_arch_prctl, SYS_set_tid_address,
      SYS_set_robust_list, SYS_rseq,      SYS_prlimit64,  SYS_readlink,
      SYS_readlinkat,      SYS_getrandom, SYS_mprotect,   SYS_mmap,
      SYS_futex,           SYS_prctl};
  return std::find(std::begin(kCalls), std::end(kCalls), call) != std::end(kCalls);
}

// Ends a blocking wait when its time is over.
class WaitLimit {
 public:
  WaitLimit() {
    struct sigaction action = {};
    action.sa_handler = [](int) {};
    (void)::sigaction(SIGALRM, &action, &before_);
  }
  WaitLimit(const WaitLimit&) = delete;
  WaitLimit& operator=(const WaitLimit&) = delete;
  ~WaitLimit() {
    set(0);
    (void)::sigaction(SIGALRM, &before_, nullptr);
  }
  static void set(time_t seconds) {
    // Again and again: the first may come before the wait begins.
    const itimerval timer = {{seconds == 0 ? 0 : 1, 0}, {seconds, 0}};
    (void)::setitimer(ITIMER_REAL, &timer, nullptr);
  }

 private:
  struct sigaction before_ = {};
};

struct Traced {
  std::string name;
  int children = 0;
  bool has_begun = false;    // main() was reached
  bool is_known = false;     // its parent told of it
  bool is_waiting = false;   // it stopped before its parent told of it
  bool has_started = false;  // its first stop is the tracer's, no signal of anybody
  bool is_filtered = false;  // seccomp(2)
  std::map<long, int> counts;
  int error = 0;                    // what the call that it is in is to give
  user_regs_struct registers = {};  // as they were at its entry
};

class Tracer {
 public:
  Tracer(pid_t command, const std::optional<Fault>& fault, const std::optional<CallSite>& kill_at)
      : command_(command), fault_(fault), kill_at_(kill_at) {
    traced_[command].name = "s";
    traced_[command].is_known = true;
  }

  // Returns the command's status as waitpid gives it.
  int follow();
  TracedOutcome result;

 private:
  void on_stop(pid_t pid, int status);
  void on_event(pid_t pid, int event);
  void on_call(pid_t pid, Traced& process);
  void enter(pid_t pid, Traced& process, long call);
  static void prevent(pid_t pid, Traced& process);
  static void leave(pid_t pid, Traced& process);
  void end_those_left();
  static void go_on(pid_t pid, int signal = 0) {
    (void)trace(PTRACE_SYSCALL, pid, 0, static_cast<std::uintptr_t>(signal));
  }

  pid_t command_;
  const std::optional<Fault>& fault_;
  const std::optional<CallSite>& kill_at_;
  std::map<pid_t, Traced> traced_;
  bool is_attached_ = false;
};

int Tracer::follow() {
  const WaitLimit limit;
  WaitLimit::set(kHangs);
  int command_status = -1;
  while (!traced_.empty()) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, __WALL);
    if (pid < 0 && errno == EINTR) {
      if (command_status < 0) {
        result.has_hung = true;
        (void)::kill(command_, SIGKILL);
      } else {
        end_those_left();
      }
      continue;
    }
    if (pid < 0) break;
    if (WIFSTOPPED(status)) {
      on_stop(pid, status);
      continue;
    }
    traced_.erase(pid);
    if (pid != command_) continue;
    command_status = status;
    WaitLimit::set(kLingers);
  }
  return command_status;
}

// Nothing of a box lives on when its supervisor has ended.
void Tracer::end_those_left() {
  for (const auto& [pid, process] : traced_) {
    result.left += process.name + " (pid " + std::to_string(pid) + ")\n";
    (void)::kill(pid, SIGKILL);
  }
}

void Tracer::on_stop(pid_t pid, int status) {
  Traced& process = traced_[pid];
  const int signal = WSTOPSIG(status);
  if (!is_attached_ && pid == command_) {  // its first exec
    is_attached_ = process.has_started = true;
    (void)trace(PTRACE_SETOPTIONS, pid, 0, kOptions);
    return go_on(pid);
  }
  const bool is_first = !std::exchange(process.has_started, true);
  if (!process.is_known) {
    process.is_waiting = true;
    return;
  }
  if (is_first && signal == SIGSTOP) return go_on(pid);
  if (const int event = status >> 16; event != 0) return on_event(pid, event);
  if (signal == kSyscallStop) return on_call(pid, process);
  go_on(pid, signal);
}

void Tracer::on_event(pid_t pid, int event) {
  if (event == PTRACE_EVENT_EXEC && pid == command_) {  // it was started by another program
    traced_[pid].has_begun = false;
    traced_[pid].counts.clear();
    result.calls.clear();
    return go_on(pid);
  }
  if (event == PTRACE_EVENT_EXEC) {
    result.is_executed = true;
    result.confinement = describe_confinement(pid);
    traced_.erase(pid);
    (void)trace(PTRACE_DETACH, pid, 0, 0);
    return;
  }
  unsigned long number = 0;
  (void)trace(PTRACE_GETEVENTMSG, pid, 0, reinterpret_cast<std::uintptr_t>(&number));
  const auto child = static_cast<pid_t>(number);
  Traced& parent = traced_[pid];
  const std::string name = parent.name + std::to_string(parent.children++);
  Traced& started = traced_[child];
  started.name = name;
  started.is_known = started.has_begun = true;
  if (std::exchange(started.is_waiting, false)) go_on(child);
  go_on(pid);
}

void Tracer::on_call(pid_t pid, Traced& process) {
  __ptrace_syscall_info call = {};
  if (trace(PTRACE_GET_SYSCALL_INFO, pid, sizeof call, reinterpret_cast<std::uintptr_t>(&call)) >
      0) {
    if (call.op == PTRACE_SYSCALL_INFO_ENTRY) enter(pid, process, static_cast<long>(call.entry.nr));
    if (call.op == PTRACE_SYSCALL_INFO_EXIT && process.error != 0) leave(pid, process);
  }
  go_on(pid);
}

void Tracer::enter(pid_t pid, Traced& process, long call) {
  process.has_begun = process.has_begun || !is_startup(call);
  if (!process.has_begun) return;
  const int nth = process.counts[call]++;
  result.calls.push_back({process.name, call, nth});
  const auto is_here = [&](const CallSite& site) {
    return site.nth == nth && site.call == call && site.process == process.name;
  };
  if (kill_at_ && is_here(*kill_at_)) {
    result.was_hit = true;
    (void)::kill(command_, SIGKILL);
  }
  if (!fault_ || !is_here(fault_->at)) {
    process.is_filtered = process.is_filtered || call == SYS_seccomp;
    return;
  }
  result.was_hit = true;
  process.error = fault_->error;
  if (call != SYS_close) prevent(pid, process);
}

void Tracer::prevent(pid_t pid, Traced& process) {
  user_regs_struct& registers = process.registers;
  (void)trace(PTRACE_GETREGS, pid, 0, reinterpret_cast<std::uintptr_t>(&registers));
  user_regs_struct changed = registers;
  constexpr auto kNothing = static_cast<unsigned long long>(-1);
  if (process.is_filtered) {
    changed.rdi = changed.rsi = changed.rdx = changed.r10 = changed.r8 = changed.r9 = kNothing;
  } else {
    changed.orig_rax = kNothing;
  }
  (void)trace(PTRACE_SETREGS, pid, 0, reinterpret_cast<std::uintptr_t>(&changed));
}

void Tracer::leave(pid_t pid, Traced& process) {
  user_regs_struct registers = {};
  (void)trace(PTRACE_GETREGS, pid, 0, reinterpret_cast<std::uintptr_t>(&registers));
  if (process.registers.rip != 0) {  // what the kernel leaves alone, it would have left alone
    registers.rdi = process.registers.rdi;
    registers.rsi = process.registers.rsi;
    registers.rdx = process.registers.rdx;
    registers.r10 = process.registers.r10;
    registers.r8 = process.registers.r8;
    registers.r9 = process.registers.r9;
  }
  registers.rax = static_cast<unsigned long long>(-std::exchange(process.error, 0));
  (void)trace(PTRACE_SETREGS, pid, 0, reinterpret_cast<std::uintptr_t>(&registers));
}

}  // namespace

TracedOutcome run_traced(Command command, const std::optional<Fault>& fault,
                         const std::optional<CallSite>& kill_at) {
  Running running = command.traced().start();
  Tracer tracer(running.pid(), fault, kill_at);
  running.was_reaped(tracer.follow());
  tracer.result.outcome = running.finish();
  return std::move(tracer.result);
}

}  // namespace wardcase::test
