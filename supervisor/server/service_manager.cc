// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/service_manager.h"

#include <systemd/sd-daemon.h>

#include <cstdint>

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

std::optional<std::chrono::microseconds> watchdog_interval() {
  std::uint64_t microseconds = 0;
  if (::sd_watchdog_enabled(/*unset_environment=*/1, &microseconds) <= 0) return std::nullopt;
  return std::chrono::microseconds(microseconds);
}

void tell_manager(const std::string& lines) {
  (void)::sd_notify(/*unset_environment=*/0, lines.c_str());
}

}  // namespace wardcase::supervisor
