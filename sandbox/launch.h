// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/launch_plan.h"
#include "sandbox/launch_request.h"
#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"

namespace wardcase::sandbox {

// A box that has been started: init's process and our ends of everything. The
// destructor kills init, and with it all that is inside, and reaps it.
class Box {
 public:
  Box() = default;
  Box(Box&& other) noexcept;
  Box& operator=(Box&& other) noexcept;
  ~Box();

  pid_t init = -1;
  sys::UniqueFd init_pidfd;
  sys::UniqueFd setup;        // SetupMessages of the launch; end of file: exec or death
  sys::UniqueFd life;         // init's later words; closing it ends the box
  sys::UniqueFd stdin_write;  // non-blocking; closed without with_stdin
  sys::UniqueFd stdout_read;  // non-blocking; all three closed with a terminal
  sys::UniqueFd stderr_read;  // closed with merge_stderr
  // There is no pid namespace, and so init is not killed: told to end, it ends the others first.
  bool ends_by_itself = false;
  // Then, and not 0: the host id that nobody else has. All who have it are the box.
  uid_t only_user = 0;
  bool joined_cgroup_at_birth = false;  // CLONE_INTO_CGROUP took
  std::vector<std::byte> plan;          // what SetupMessage::object refers to
  // The id maps or "go" could not be given. A child that lives fails at await_go
  // then; one that failed before has told its own reason, which is the better one.
  std::optional<sys::Error> release_error;

  // SIGKILL to init; the kernel then ends everything in its pid namespace. Without one
  // init is told to do it.
  void kill_init() const;
  // It did not end in time, and is not waited for any more.
  void abandon_init();
  // Reaps init, which must have ended (its pidfd is readable).
  void reap();

  [[nodiscard]] std::string_view text(Offset at) const;
};

// When the parent's part of a launch was done, for --timing.
struct LaunchMark {
  std::string_view name;
  std::chrono::steady_clock::time_point at;
};

// Makes the channels, prepares the binds, clones the child, writes its id maps
// and lets it go. Blocks no longer than these system calls take. On failure
// nothing is left; the error names what could not be done, and to what. Once the
// child exists its messages tell the rest.
[[nodiscard]] sys::Result<Box> launch(const LaunchRequest& request, std::vector<LaunchMark>* marks);

}  // namespace wardcase::sandbox
