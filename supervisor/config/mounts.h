// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policies/policy.h"
#include "sandbox/sys/error.h"

namespace wardcase::supervisor {

// Mounts as the command line writes them, checked. Sources become real paths
// (no symlink left) that exist and are neither system directories nor our own
// state; errors name the value and the reason.

// `SRC:DST[:ro|rw]`, read-only unless rw.
[[nodiscard]] sys::Result<policies::Mount> parse_mount(std::string_view text);

// The same for a mount that a policy names.
[[nodiscard]] sys::Result<policies::Mount> check_mount(const policies::Mount& mount);

// `DIR[:ro|rw]`: a directory that becomes /box.
[[nodiscard]] sys::Result<policies::Mount> parse_workspace(std::string_view text);

// An interpreter outside /usr, and what has to be seen in the box for it.
struct Interpreter {
  std::string path;
  std::vector<policies::Mount> mounts;  // its prefix, at its own place; none below /usr
};
[[nodiscard]] sys::Result<Interpreter> find_interpreter(const std::string& path);

// Whether the mount shows a socket at first sight (itself, or directly inside):
// the program could talk to whoever listens there.
[[nodiscard]] bool shows_sockets(const policies::Mount& mount);

}  // namespace wardcase::supervisor
