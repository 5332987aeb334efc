// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>

#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"
#include "supervisor/languages/environment.h"
#include "supervisor/run/run_spec.h"

namespace wardcase::supervisor {

// What lies in the directory that is bound read-write at /opt/wardcase while an environment is
// made: the environment itself, and all that is only needed for making it.
inline constexpr std::string_view kMadeEnvironment = "env";
inline constexpr std::string_view kMadeTemporary = "tmp";

// The driver found no pip to be run by this interpreter.
inline constexpr int kNoPip = 96;

// Makes these directories in `made`, and what the installer is told by files there.
[[nodiscard]] sys::Status begin_environment(const EnvironmentRequest& request,
                                            const std::string& made);

// The box that fills them: the installer, by its full path, behind `agent` (wardcase-agent, a path
// of the host) where there is an index to talk to, by way of `channel` (install_proxy.h).
// `host_cpus`: what this process may run on.
[[nodiscard]] sys::Result<RunSpec> install_spec(const EnvironmentRequest& request,
                                                const std::string& made, unsigned host_cpus,
                                                const std::string& agent, sys::UniqueFd channel);

// Whether `made` has what show_environment() shows: directories, and no links that the installed
// could have put in their place.
[[nodiscard]] sys::Status check_environment(policies::Installer installer, const std::string& made);

}  // namespace wardcase::supervisor
