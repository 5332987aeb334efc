// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "sandbox/sys/error.h"

namespace wardcase::sandbox {

// What a launch asks of the kernel, in the order in which it is tried.
enum class ProbeStep : std::uint8_t {
  create_namespaces,  // clone3 with all that a box has
  map_ids,
  private_mounts,
  make_tmpfs,
  make_proc,  // fails only here where an outer /proc is masked
  attach_tmpfs,
  pivot_root,
  load_filter,
  make_listener,  // of system calls that a filter refuses
  map_mount_ids,  // root alone
};
inline constexpr std::size_t kProbeStepCount =
    static_cast<std::size_t>(ProbeStep::map_mount_ids) + 1;

// 0: worked; an errno: failed; nullopt: not tried, because one before it failed
// or it is not for this user.
class ProbeErrors {
 public:
  [[nodiscard]] std::optional<int> of(ProbeStep step) const {
    return errors_[static_cast<std::size_t>(step)];
  }
  void set(ProbeStep step, int error) { errors_[static_cast<std::size_t>(step)] = error; }

 private:
  std::array<std::optional<int>, kProbeStepCount> errors_;
};

// Takes the steps for real in a child that is thrown away. Nothing of it is
// left behind. Waits for it, 10 s at most. Fails where no child can be asked at all.
[[nodiscard]] sys::Result<ProbeErrors> probe_box();

}  // namespace wardcase::sandbox
