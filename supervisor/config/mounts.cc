// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/config/mounts.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "sandbox/state_lock.h"
#include "sandbox/sys/paths.h"

namespace wardcase::supervisor {

namespace fs = std::filesystem;

namespace {

sys::Result<std::string> real_path(const std::string& path) {
  std::array<char, PATH_MAX> real;
  if (::realpath(path.c_str(), real.data()) == nullptr) {
    return tl::unexpected(sys::errno_error("'" + path + "'"));
  }
  return std::string(real.data());
}

// Where this user's and the system's supervisors keep what is theirs.
std::vector<std::string> state_directories() {
  std::vector<std::string> directories = {"/run/wardcase", "/var/lib/wardcase",
                                          "/var/cache/wardcase"};
  const auto add = [&](const char* variable, const char* below_home) {
    const char* base = std::getenv(variable);
    const char* home = std::getenv("HOME");
    if (base != nullptr && *base != '\0') {
      directories.push_back(std::string(base) + "/wardcase");
    } else if (below_home != nullptr && home != nullptr && *home != '\0') {
      directories.push_back(std::string(home) + below_home);
    }
  };
  add("XDG_RUNTIME_DIR", nullptr);
  add("XDG_STATE_HOME", "/.local/state/wardcase");
  add("XDG_CACHE_HOME", "/.cache/wardcase");
  add("XDG_CONFIG_HOME", "/.config/wardcase");
  for (std::string& directory : directories) {
    if (auto real = real_path(directory)) directory = *std::move(real);
  }
  return directories;
}

// "": may be mounted, or mounted over.
std::string_view why_refused(const std::string& path) {
  if (path == "/" || path == "/run") return "would show the whole system; name a directory below";
  for (const std::string_view system : {"/proc", "/sys", "/dev"}) {
    if (sys::is_at_or_below(path, system)) return "belongs to the kernel and can't be mounted";
  }
  const auto state = state_directories();
  const auto holds = [&](const std::string& directory) {
    return sys::is_at_or_below(path, directory);
  };
  if (std::ranges::any_of(state, holds)) return "is the supervisor's own and can't be mounted";
  return "";
}

// What of ours the directory holds that its programs must not have: all that they could write to,
// which is believed later, and sockets, which can be talked to through a read-only mount as well.
// "": nothing.
std::string held_state(const std::string& source, policies::MountMode mode) {
  const auto runtime = sandbox::runtime_directory_name();
  if (runtime) {
    std::error_code error;
    const auto sessions = fs::canonical(*runtime + "/sessions", error);
    if (!error && sys::is_at_or_below(sessions.string(), source)) return sessions.string();
  }
  if (mode == policies::MountMode::read_only) return "";
  for (std::string& directory : state_directories()) {
    if (sys::is_at_or_below(directory, source)) return std::move(directory);
  }
  return "";
}

sys::Result<std::string> checked_source(const std::string& source, policies::MountMode mode) {
  auto real = real_path(source);
  if (!real) return real;
  if (const auto reason = why_refused(*real); !reason.empty()) {
    return tl::unexpected(sys::plain_error("source '" + *real + "' " + std::string(reason)));
  }
  if (const std::string held = held_state(*real, mode); !held.empty()) {
    return tl::unexpected(sys::plain_error("source '" + *real + "' holds the supervisor's own '" +
                                           held + "'; name a directory that does not"));
  }
  return real;
}

sys::Result<std::string> checked_target(std::string_view target) {
  const auto refuse = [&](std::string_view reason) {
    return tl::unexpected(
        sys::plain_error("target '" + std::string(target) + "' " + std::string(reason)));
  };
  const fs::path path(target);
  if (!path.is_absolute()) return refuse("is not absolute; write SRC:/PLACE/IN/THE/BOX");
  if (std::ranges::find(path, "..") != path.end())
    return refuse("has '..' in it; write it without");
  std::string normal = path.lexically_normal().string();
  while (normal.size() > 1 && normal.back() == '/') normal.pop_back();
  if (normal.starts_with("//")) normal.erase(0, 1);  // POSIX lets two slashes stand
  if (const auto reason = why_refused(normal); !reason.empty()) return refuse(reason);
  return normal;
}

// Takes ":ro" or ":rw" off the end.
policies::MountMode take_mode(std::string_view& text) {
  const bool writable = text.ends_with(":rw");
  if (writable || text.ends_with(":ro")) text.remove_suffix(3);
  return writable ? policies::MountMode::read_write : policies::MountMode::read_only;
}

}  // namespace

sys::Result<policies::Mount> parse_mount(std::string_view text) {
  const policies::MountMode mode = take_mode(text);
  const auto colon = text.find(':');
  if (colon == 0 || colon == std::string_view::npos || colon + 1 == text.size() ||
      text.find(':', colon + 1) != std::string_view::npos) {
    return tl::unexpected(sys::plain_error("write SRC:DST, SRC:DST:ro or SRC:DST:rw"));
  }
  return check_mount(
      {std::string(text.substr(0, colon)), std::string(text.substr(colon + 1)), mode});
}

sys::Result<policies::Mount> check_mount(const policies::Mount& mount) {
  auto target = checked_target(mount.target);
  if (!target) return tl::unexpected(std::move(target).error());
  auto source = checked_source(mount.source, mount.mode);
  if (!source) return tl::unexpected(std::move(source).error());
  return policies::Mount{*std::move(source), *std::move(target), mount.mode};
}

sys::Result<policies::Mount> parse_workspace(std::string_view text) {
  const policies::MountMode mode = take_mode(text);
  if (text.empty()) return tl::unexpected(sys::plain_error("write DIR, DIR:ro or DIR:rw"));
  auto source = checked_source(std::string(text), mode);
  if (!source) return tl::unexpected(std::move(source).error());
  std::error_code error;
  const bool is_directory = fs::is_directory(*source, error);
  if (error) return tl::unexpected(sys::Error{error.value(), "look at '" + *source + "'"});
  if (!is_directory) {
    return tl::unexpected(sys::plain_error("'" + *source + "' is not a directory"));
  }
  return policies::Mount{*std::move(source), "/box", mode};
}

sys::Result<Interpreter> find_interpreter(const std::string& path) {
  auto real = real_path(path);
  if (!real) return tl::unexpected(std::move(real).error());
  struct stat info = {};
  if (::stat(real->c_str(), &info) < 0 || !S_ISREG(info.st_mode) ||
      ::access(real->c_str(), X_OK) < 0) {
    return tl::unexpected(sys::plain_error("'" + path + "' is not an executable file"));
  }
  Interpreter interpreter = {*real, {}};
  const auto show = [&](const std::string& executable) -> sys::Status {
    const std::string prefix = fs::path(executable).parent_path().parent_path().string();
    if (sys::is_at_or_below(prefix, "/usr")) return {};
    auto source = checked_source(prefix, policies::MountMode::read_only);
    if (!source) return tl::unexpected(std::move(source).error());
    interpreter.mounts.push_back({*source, *source, policies::MountMode::read_only});
    return {};
  };
  if (auto shown = show(*real); !shown) return tl::unexpected(std::move(shown).error());

  // A virtual environment is a link to the real interpreter with packages
  // beside it: it has to be started by its own name, and be seen.
  const fs::path given(path);
  auto directory = real_path(given.has_parent_path() ? given.parent_path().string() : ".");
  if (!directory) return tl::unexpected(std::move(directory).error());
  const std::string own_name = *directory + "/" + given.filename().string();
  std::error_code ignored;  // what can't be looked at is no virtual environment
  if (own_name != *real && fs::exists(fs::path(*directory).parent_path() / "pyvenv.cfg", ignored)) {
    interpreter.path = own_name;
    if (auto shown = show(own_name); !shown) return tl::unexpected(std::move(shown).error());
  }
  return interpreter;
}

bool shows_sockets(const policies::Mount& mount) {
  std::error_code error;
  if (fs::is_socket(mount.source, error)) return true;
  for (fs::directory_iterator entry(mount.source, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;  // an entry that went away is no socket
    if (entry->symlink_status(gone).type() == fs::file_type::socket) return true;
  }
  return false;
}

}  // namespace wardcase::supervisor
