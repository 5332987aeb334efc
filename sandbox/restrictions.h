// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <string>

namespace wardcase::sandbox {

enum class ContainerKind : std::uint8_t { none, unknown, docker, podman, kubernetes };

// What stands around us that can keep a box from being made, as far as it can be seen from here.
struct Restrictions {
  bool is_root = false;
  // Settings of the kernel as text, "" where it has none of that name.
  std::string max_user_namespaces;
  std::string unprivileged_userns_clone;
  std::string apparmor_restrict_userns;
  bool is_filtered = false;      // by a system call filter around us
  bool is_proc_covered = false;  // in part, by mounts
  ContainerKind container = ContainerKind::none;
  int landlock_abi = 0;
};

// Reads a few files. Never fails: what can't be read is not there.
[[nodiscard]] Restrictions observe_restrictions();

// One reason, and what to grant or to change against it; "" where nothing is known.
struct Explanation {
  std::string cause;
  std::string fix;
};

// Why no process with namespaces of its own could be made, got no ids, or can't mount in them.
[[nodiscard]] Explanation explain_namespaces(const Restrictions& around, int error);
// Why the kernel gave no fresh /proc.
[[nodiscard]] Explanation explain_proc(const Restrictions& around);
// What is there to run with all the same: "" where Landlock is missing, too.
[[nodiscard]] std::string weaker_way(const Restrictions& around);

}  // namespace wardcase::sandbox
