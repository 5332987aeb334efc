// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/user_scope.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <string>

#include "supervisor/cli/ask_program.h"

namespace wardcase::supervisor {
namespace {

constexpr const char* kName = "wardcase-server";
constexpr const char* kLibexec = "/usr/libexec/wardcase";

std::string own_directory() {
  std::array<char, PATH_MAX> path;
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  const std::string text(path.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  return text.substr(0, text.rfind('/'));
}

// Beside the command, in the libexec of its prefix, or in that of the system.
std::string find_companion() {
  const std::string own = own_directory();
  for (const std::string& directory : {own, own + "/../libexec/wardcase", std::string(kLibexec)}) {
    std::string path = directory + "/" + kName;
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return "";
}

}  // namespace

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
  const std::string companion = find_companion();
  if (companion.empty()) {
    return tl::unexpected(
        sys::plain_error(std::string(kName) + " is not installed beside us or in " + kLibexec));
  }
  const auto answer =
      ask_program({companion, "scope", socket, std::to_string(::getpid())}, {"LANG=C.UTF-8"});
  if (answer && answer->is_success) return {};
  const std::string why = answer && !answer->line.empty() ? answer->line : "no answer";
  return tl::unexpected(sys::plain_error("ask your service manager for a scope: " + why));
}

}  // namespace wardcase::supervisor
