// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>

#include "sandbox/sys/error.h"
#include "supervisor/run/host.h"
#include "supervisor/run/preparation.h"
#include "supervisor/run/run_spec.h"

// The parts of a preparation that are others where a policy has no namespaces
// (policies::Confinement::landlock): the host's paths stay, and Landlock, the filter and a private
// directory are all that there is.
namespace wardcase::supervisor {

[[nodiscard]] inline bool has_namespaces(const RunSpec& spec) {
  return spec.confinement == policies::Confinement::namespaces;
}

// What such a box can't be: with a terminal of its own, with a mount at another place than its
// source's, or where there is no Landlock.
[[nodiscard]] sys::Status check_without_namespaces(const RunSpec& spec, const Host& host);

// Root becomes an id of the pool; everybody else keeps his.
[[nodiscard]] sys::Status settle_host_ids(Host& host, Preparation& made);

// Makes the directory, and has all of the request mean the host's paths: what stands at or below
// /box, /tmp, HOME and /run/wardcase is below the directory or the workspace. Of the program's
// arguments only those are changed that begin with /box or /run/wardcase.
[[nodiscard]] sys::Status settle_host_paths(const RunSpec& spec, Host& host, Preparation& made);

// The process limit of a user counts all that he has.
void settle_process_limit(Preparation& made);

// Says what of the requested isolation is not there, and what stands in its place.
void list_missing_namespaces(const RunSpec& spec, Preparation& made);

}  // namespace wardcase::supervisor
