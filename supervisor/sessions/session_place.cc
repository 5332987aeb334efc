// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/sessions/session_place.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "sandbox/state_lock.h"
#include "sandbox/sys/retry.h"
#include "supervisor/sessions/session_terms.h"

namespace wardcase::supervisor {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kSuffix = ".sock";

sys::Result<sys::UniqueFd> connect_to(const std::string& path, int flags = 0) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return tl::unexpected(sys::Error{ENAMETOOLONG, "connect to '" + path + "'"});
  }
  std::memcpy(address.sun_path, path.c_str(), path.size());
  sys::UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
  if (!socket.is_open()) return tl::unexpected(sys::errno_error("make a socket"));
  const int connected = sys::retry_eintr([&] {
    return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  });
  if (connected < 0) return tl::unexpected(sys::errno_error("connect to '" + path + "'"));
  return socket;
}

// Under the lock that whoever makes a socket there holds, too.
void remove_dead(const std::string& directory, const std::string& id) {
  const sys::UniqueFd locked(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!locked.is_open() || sys::retry_eintr([&] { return ::flock(locked.get(), LOCK_EX); }) < 0) {
    return;
  }
  const std::string path = session_socket(directory, id);
  const auto alive = connect_to(path);
  if (!alive && alive.error().code == ECONNREFUSED) (void)::unlink(path.c_str());
}

}  // namespace

sys::Result<std::string> sessions_directory() { return runtime_subdirectory("sessions"); }

sys::Result<std::string> runtime_subdirectory(const std::string& name) {
  auto runtime = sandbox::runtime_directory();
  if (!runtime) return runtime;
  std::string directory = *runtime + "/" + name;
  struct stat info = {};
  if (::mkdir(directory.c_str(), 0700) < 0 && errno != EEXIST) {
    return tl::unexpected(sys::errno_error("make directory '" + directory + "'"));
  }
  if (::lstat(directory.c_str(), &info) < 0) {
    return tl::unexpected(sys::errno_error("look at directory '" + directory + "'"));
  }
  if (!S_ISDIR(info.st_mode) || info.st_uid != ::geteuid() || (info.st_mode & 077) != 0) {
    return tl::unexpected(sys::plain_error("directory '" + directory +
                                           "' must belong to us and be closed to others"));
  }
  return directory;
}

std::string session_socket(const std::string& directory, std::string_view id) {
  return directory + "/" + std::string(id) + std::string(kSuffix);
}

sys::Result<sys::UniqueFd> connect_session(std::string_view id) {
  const sys::Error unknown = {ENOENT, "no such session: '" + std::string(id) + "'"};
  if (!is_session_id(id)) return tl::unexpected(unknown);
  const auto directory = sessions_directory();
  if (!directory) return tl::unexpected(directory.error());
  auto socket = connect_to(session_socket(*directory, id));
  if (!socket && (socket.error().code == ENOENT || socket.error().code == ECONNREFUSED)) {
    return tl::unexpected(unknown);
  }
  return socket;
}

sys::Result<sys::UniqueFd> connect_to_keeper(const std::string& socket) {
  return connect_to(socket, SOCK_NONBLOCK);
}

sys::Result<std::vector<std::string>> list_sessions() {
  const auto directory = sessions_directory();
  if (!directory) return tl::unexpected(directory.error());
  std::vector<std::string> ids;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(*directory, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(kSuffix)) continue;
    const std::string id = name.substr(0, name.size() - kSuffix.size());
    if (is_session_id(id)) ids.push_back(id);
  }
  if (error) {
    return tl::unexpected(sys::Error{error.value(), "read directory '" + *directory + "'"});
  }
  std::erase_if(ids, [&](const std::string& id) {
    const bool is_dead = !connect_session(id);
    if (is_dead) remove_dead(*directory, id);
    return is_dead;
  });
  std::ranges::sort(ids);
  return ids;
}

}  // namespace wardcase::supervisor
