// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/service_manager.h"

#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace wardcase::supervisor {

sys::Result<std::vector<sys::UniqueFd>> take_handed_sockets() {
  const int count = ::sd_listen_fds(/*unset_environment=*/1);
  if (count < 0) {
    return tl::unexpected(sys::Error{-count, "take the sockets of the service manager"});
  }
  std::vector<sys::UniqueFd> sockets;
  sockets.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) sockets.emplace_back(SD_LISTEN_FDS_START + i);
  return sockets;
}

std::optional<std::string> find_credential(const std::string& name) {
  const char* const directory = std::getenv("CREDENTIALS_DIRECTORY");
  if (directory == nullptr || *directory != '/') return std::nullopt;
  const std::string path = std::string(directory) + "/" + name;
  if (::access(path.c_str(), F_OK) < 0 && errno == ENOENT) return std::nullopt;
  return path;
}

std::optional<std::chrono::microseconds> watchdog_interval() {
  std::uint64_t microseconds = 0;
  if (::sd_watchdog_enabled(/*unset_environment=*/1, &microseconds) <= 0) return std::nullopt;
  return std::chrono::microseconds(microseconds);
}

void tell_reloading() {
  timespec now = {};
  (void)::clock_gettime(CLOCK_MONOTONIC, &now);  // fails only on a bad address
  constexpr std::int64_t kMicro = 1'000'000;
  constexpr std::int64_t kNanosOfMicro = 1'000;
  const std::int64_t microseconds = now.tv_sec * kMicro + now.tv_nsec / kNanosOfMicro;
  tell_manager("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(microseconds));
}

void tell_manager(const std::string& lines) {
  (void)::sd_notify(/*unset_environment=*/0, lines.c_str());
}

}  // namespace wardcase::supervisor
