// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/version.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <string>

#include "supervisor/cli/console.h"
#include "supervisor/run/version.h"

namespace wardcase::supervisor {

int version_command() {
  utsname system = {};
  (void)::uname(&system);  // fails only on a bad address
  const std::string line = "wardcase " + std::string(kVersion) + " (" + system.machine + ")\n";
  return write_all(STDOUT_FILENO, line) ? 0 : 125;
}

}  // namespace wardcase::supervisor
