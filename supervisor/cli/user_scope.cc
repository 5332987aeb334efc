// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/user_scope.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "supervisor/cli/ask_program.h"
#include "supervisor/config/installed.h"

namespace wardcase::supervisor {

// The manager's own socket: no message bus is needed between.
sys::Status enter_user_scope() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  const std::string socket =
      runtime != nullptr && *runtime == '/' ? std::string(runtime) + "/systemd/private" : "";
  struct stat info = {};
  if (socket.empty() || ::stat(socket.c_str(), &info) < 0 || !S_ISSOCK(info.st_mode)) {
    return tl::unexpected(
        sys::plain_error("no service manager of yours runs (XDG_RUNTIME_DIR leads to none)"));
  }
  if (info.st_uid != ::geteuid()) {
    return tl::unexpected(sys::plain_error("'" + socket + "' belongs to another user"));
  }
  const auto companion = find_installed(kCompanion);
  if (!companion) return tl::unexpected(companion.error());
  const auto answer =
      ask_program({*companion, "scope", socket, std::to_string(::getpid())}, {"LANG=C.UTF-8"});
  if (answer && answer->is_success) return {};
  const std::string why = answer && !answer->line.empty() ? answer->line : "no answer";
  return tl::unexpected(sys::plain_error("ask your service manager for a scope: " + why));
}

}  // namespace wardcase::supervisor
