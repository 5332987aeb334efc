// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "sandbox/launch_plan.h"
#include "sandbox/setup_report.h"

// Everything between clone3 and exec: child.cc (namespaces, ids, descriptors),
// child_mounts.cc (the file system), child_terminal.cc (a terminal, where the
// program gets one), child_program.cc (the program's last steps) and
// init_process.cc (pid 1).
//
// Rules of these files (tests/lint/check_child_calls.sh enforces the first):
//   - call only raw system calls and what signal-safety(7) lists: the parent may
//     have held malloc's lock when we were cloned;
//   - allocate nothing, log nothing, throw nothing;
//   - a step returns 0 or an errno. It never decides whether a failure matters:
//     every failure ends the child.
namespace wardcase::sandbox {

// The exit status of whoever could not do his part.
inline constexpr int kSetupFailed = 125;

struct MemoryRange {
  void* begin = nullptr;
  std::size_t size = 0;
};

struct Child {
  LaunchPlan& plan;
  const int* fds;
  MemoryRange arguments;  // the supervisor's argv and environment, which init wipes
  int channel;            // where failures are told: the setup socket, later life
  int root = -1;          // the new root file system
  int scratch = -1;       // the writable one
  int proc = -1;
  int terminal = -1;  // the program's end of it
  pid_t program = -1;
  int armed_by_init = -1;    // the program's end: a byte comes when init holds nothing any more
  int tell_program = -1;     // init's end
  Offset object = 0;         // what the current step works on, for its report
  SetupMessage report = {};  // collects when each step was done

  [[nodiscard]] int fd(FdIndex index) const noexcept { return index < 0 ? -1 : fds[index]; }
};

struct Step {
  SetupStep name;
  int (*run)(Child&) noexcept;
};

// Takes the steps in order; the first failure is reported and ends the process.
void take_steps(Child& child, const Step* steps, std::size_t count) noexcept;

// Notes the time, for --timing. Steps whose report goes out before they return do so themselves.
void mark_done(Child& child, SetupStep step) noexcept;

// Sends `child.report` with its kind set; `fd` -1: without a descriptor. 0 or an errno.
int send_report(Child& child, SetupMessage::Kind kind, int fd) noexcept;

// What clone3's child runs. `fds` is the table that the plan's indexes mean.
[[noreturn]] void run_child(LaunchPlan& plan, const int* fds, MemoryRange arguments) noexcept;

// The program's part and init's part, after the fork.
[[noreturn]] void become_program(Child& child) noexcept;
[[noreturn]] void become_init(Child& child) noexcept;

// Landlock's own signal rules (ABI 6), and what they need; for a box without namespaces.
int confine_signals(Child& child) noexcept;

// Steps that both take.
int drop_capabilities(Child& child) noexcept;
int forbid_new_privileges(Child& child) noexcept;
// Kills us when the parent dies, then looks whether it has died already (the
// life socket tells: getppid() is 0 across pid namespaces).
int die_with_parent(Child& child) noexcept;

// child_mounts.cc
int private_mounts(Child& child) noexcept;
int make_root(Child& child) noexcept;
int make_scratch(Child& child) noexcept;
int make_skeleton(Child& child) noexcept;
int place_files(Child& child) noexcept;
int place_binds(Child& child) noexcept;
int place_scratch(Child& child) noexcept;
int mount_proc(Child& child) noexcept;
int protect_proc(Child& child) noexcept;
int send_box(Child& child) noexcept;
int enter_root(Child& child) noexcept;
int verify_root(Child& child) noexcept;
int seal_root(Child& child) noexcept;

// child_terminal.cc; both do nothing where the program gets no terminal
int make_terminal(Child& child) noexcept;
int take_terminal(Child& child) noexcept;

}  // namespace wardcase::sandbox
