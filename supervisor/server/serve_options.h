// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <optional>
#include <span>
#include <string>

#include "policies/service_settings.h"
#include "sandbox/sys/error.h"
#include "supervisor/server/run_queue.h"
#include "supervisor/server/run_registry.h"
#include "supervisor/server/server.h"
#include "supervisor/server/session_registry.h"

namespace wardcase::supervisor {

// What `wardcase serve` was asked for, by its options or by [server] of the configuration.
struct ServeOptions {
  std::optional<std::string> listen;
  std::optional<std::string> tokens;  // a file
  Server::Rules server;
  RunQueue::Most queue;
  RunRegistry::Most registry;
  SessionRegistry::Most sessions;
};

// `cpus`: what this process may run on.
[[nodiscard]] sys::Result<ServeOptions> parse_serve_options(
    std::span<const std::string> words, const policies::ServiceSettings& settings,
    std::size_t cpus);

}  // namespace wardcase::supervisor
