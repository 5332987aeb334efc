// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <functional>
#include <string>

namespace wardcase::test {

// Puts the leak check into this test program: after every test nothing of its
// runs may be left on the host: no process, mount, cgroup, lock, lease,
// temporary file or descriptor. At the end of the program the empty parents
// that it caused are removed, so that the host is as found.
//
// The program becomes the reaper of all that its runs leave behind
// (PR_SET_CHILD_SUBREAPER): whatever they orphan is then its descendant, and
// counting needs no names. Returns true, for an initialiser: it must be called
// before the tests start.
bool install_leak_check();

// Processes that descend from this one and are not zombies, as "pid comm" lines.
[[nodiscard]] std::string list_descendants();

// Tries every few milliseconds until `holds`, at most for about five seconds.
[[nodiscard]] bool eventually(const std::function<bool()>& holds);

// Directories of runs under `wardcase/` in the visible cgroup hierarchies, one a line.
[[nodiscard]] std::string list_cgroups();

// Files in the runtime directories of wardcase, one a line.
[[nodiscard]] std::string list_runtime_files();

}  // namespace wardcase::test
