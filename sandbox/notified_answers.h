// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstdint>
#include <span>

namespace wardcase::sandbox {

// An answer that the supervisor is asked for. The kernel looks at no more than the
// action; the low half says what stands in for it where nobody can be asked: an errno,
// or 0 for the end of the process.
inline constexpr std::uint32_t kNotifiedKill = SECCOMP_RET_USER_NOTIF;
constexpr std::uint32_t notified_errno(int error) {
  return SECCOMP_RET_USER_NOTIF | static_cast<std::uint32_t>(error);
}

// Puts in what stands in for each notified answer. Safe between clone and exec.
inline void answer_unasked(std::span<sock_filter> filter) noexcept {
  for (sock_filter& instruction : filter) {
    if (instruction.code != (BPF_RET | BPF_K) ||
        (instruction.k & SECCOMP_RET_ACTION_FULL) != SECCOMP_RET_USER_NOTIF) {
      continue;
    }
    const std::uint32_t error = instruction.k & SECCOMP_RET_DATA;
    instruction.k = error != 0 ? SECCOMP_RET_ERRNO | error : SECCOMP_RET_KILL_PROCESS;
  }
}

}  // namespace wardcase::sandbox
