// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <climits>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace wardcase::sandbox {

// The steps of a launch, in the order in which they are taken. Every failure
// names its step.
enum class SetupStep : std::uint8_t {
  none,
  // the child, before it is pid 1 of a finished box
  close_parent_ends,
  raise_open_files,
  join_cgroups,
  hide_cgroups,
  keep_capabilities,
  private_mounts,
  loopback_up,
  await_go,
  change_ids,
  make_root,
  make_scratch,
  make_skeleton,
  place_files,
  place_binds,
  place_scratch,
  mount_proc,
  protect_proc,
  make_terminal,
  send_box,
  enter_root,
  verify_root,
  seal_root,
  name_host,
  enter_directory,
  place_stdio,
  pin_cpus,
  use_directory,
  confine_signals,
  adopt_orphans,
  fork_program,
  // the program, before its exec
  start_session,
  take_terminal,
  drop_capabilities,
  verify_capabilities,
  die_with_init,
  offer_to_oom_killer,
  forbid_new_privileges,
  restrict_paths,
  set_rlimits,
  reset_signals,
  await_init,
  place_channel,
  hold_at_exec,
  install_filter,
  limit_files,
  exec,
  // init, while the program starts
  announce_program,
  hide_init,
  drop_init_capabilities,
  die_with_supervisor,
  forbid_init_privileges,
  keep_descriptors,
  verify_signals,
  install_init_filter,
  release_program,
};
inline constexpr std::size_t kSetupStepCount =
    static_cast<std::size_t>(SetupStep::release_program) + 1;

// What the step does, in words that complete "could not ...".
[[nodiscard]] std::string_view step_words(SetupStep step);
// The step's own name, for --timing.
[[nodiscard]] std::string_view step_name(SetupStep step);

// What the child, the program and init say to the supervisor. One datagram of a
// SEQPACKET socket, and so never torn.
struct SetupMessage {
  enum class Kind : std::uint8_t {
    terminal,       // setup socket; carries the master of the program's terminal, if it has one
    box_directory,  // setup socket; carries the descriptor of /box
    proc,           // setup socket; carries the descriptor of /proc (O_PATH)
    program,        // setup socket, from init; carries the program's pidfd
    ready,          // setup socket, from the program: the filter is loaded, exec is next; carries
                    // the listener of refused calls, if there could be one
    failed,         // setup socket, or life socket once init gave the first one up
    program_ended,  // life socket, from init
  };
  Kind kind = Kind::failed;
  SetupStep step = SetupStep::none;  // failed: which
  std::int32_t error = 0;            // failed: errno; ready: why there is no listener, or 0
  std::uint32_t object = 0;          // failed: offset of a text in the plan, 0 for none
  bool root_by_chroot = false;       // program: pivot_root was refused, chroot stands in its place
  std::int32_t end_code = 0;         // program_ended: si_code (CLD_EXITED, ...), waitid(2)
  std::int32_t end_status = 0;       // program_ended: si_status
  // program and ready: when each step of the sender was done, CLOCK_MONOTONIC
  // in nanoseconds; 0 where it was not its step.
  std::uint64_t done_at[kSetupStepCount] = {};
};
static_assert(std::is_trivially_copyable_v<SetupMessage>);
static_assert(sizeof(SetupMessage) <= PIPE_BUF);

}  // namespace wardcase::sandbox
