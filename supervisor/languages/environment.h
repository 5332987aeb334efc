// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policies/limits.h"
#include "policies/policy.h"
#include "sandbox/sys/error.h"
#include "supervisor/languages/requirement.h"
#include "supervisor/run/run_spec.h"

namespace wardcase::supervisor {

// What is wanted of an environment: a directory with what requirements come to, for one
// interpreter, from one configuration.
struct EnvironmentRequest {
  policies::Installer installer = policies::Installer::pip;
  std::vector<Requirement> requirements;  // settle_requirements()
  // What is there already and has to stay as it is ("NAME==VERSION"); pip alone.
  std::vector<std::string> constraints;
  std::string interpreter;             // its path in the box
  std::vector<policies::Mount> shown;  // what has to be seen for it, beside /usr
  policies::InstallSettings settings;
  policies::Limits limits;           // of the installation
  std::string policy;                // its name, for messages
  std::vector<std::string> require;  // features without which nothing may run
};

// The kind of cache (content_cache.h) that environments lie in.
inline constexpr std::string_view kEnvironments = "environments";

// Where the environment is in the box: /opt/wardcase/env, /node_modules.
[[nodiscard]] std::string_view environment_place(policies::Installer installer);

// The hash of all that goes into it: requirements, interpreter, index, wheels at hand. Looks at
// files and starts no process.
[[nodiscard]] sys::Result<std::string> environment_key(const EnvironmentRequest& request);

// The file of the host behind a path of the box; "" where it shows none.
[[nodiscard]] std::string host_path_of(const std::string& path,
                                       const std::vector<policies::Mount>& shown);

// The first of `names` (or paths) that the box has, looked for on the PATH of `environment`; ""
// where it has none.
[[nodiscard]] std::string find_in_box(const std::vector<std::string>& names,
                                      const std::vector<std::string>& environment,
                                      const std::vector<policies::Mount>& shown);

// Shows the environment in `directory` (EnvironmentOutcome) to a program, read-only: a mount, and
// variables by which its interpreter finds it.
void show_environment(policies::Installer installer, const std::string& directory, RunSpec& spec);

// What keeps an environment at this place from being seen by this program; "" if nothing does.
[[nodiscard]] std::string why_not_shown(std::string_view place, const RunSpec& program);

// "NAME==VERSION" of all that pip installed there.
[[nodiscard]] std::vector<std::string> installed_distributions(const std::string& directory);
// The version of what npm installed there under this name; "" where it did not.
[[nodiscard]] std::string installed_package(const std::string& directory, const std::string& name);

}  // namespace wardcase::supervisor
