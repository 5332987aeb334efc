// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"

namespace wardcase::supervisor {

// What systemd hands to a service, and what it wants to hear of it. Without systemd there
// is nothing, and nobody listens.

// Sockets that it listens on for us. Later calls, and programs that we start, get none.
[[nodiscard]] sys::Result<std::vector<sys::UniqueFd>> take_handed_sockets();

// The file of a credential that it has for us (LoadCredential= in the unit), where there is one.
[[nodiscard]] std::optional<std::string> find_credential(const std::string& name);

// How often it wants to hear WATCHDOG=1.
[[nodiscard]] std::optional<std::chrono::microseconds> watchdog_interval();

// That our files are being read anew: what follows is READY=1.
void tell_reloading();

// Lines of NAME=VALUE (sd_notify(3)). Whoever does not listen is no error.
void tell_manager(const std::string& lines);

}  // namespace wardcase::supervisor
