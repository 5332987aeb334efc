// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policies/language.h"
#include "policies/policy.h"
#include "sandbox/sys/error.h"
#include "supervisor/languages/job.h"
#include "supervisor/run/run_record.h"
#include "supervisor/run/run_spec.h"

namespace wardcase::supervisor {

// What a stage of a program's own is run with: the program's confinement, variables and system
// mounts, but none of its files and descriptors, and no network.
[[nodiscard]] RunSpec stage_spec(const RunSpec& program, const policies::Limits& limits);

// The policy's limits with those of the stage in their place, as far as its maxima allow.
[[nodiscard]] policies::Limits stage_limits(const policies::Policy& policy,
                                            const policies::StageLimits& own);

// Copies of the program's files below /box for a stage, where they are next to its source.
[[nodiscard]] sys::Status share_files(const RunSpec& program, RunSpec& stage);

// A program's source: what it is called, and its bytes, to be read from their start.
struct SourceFile {
  std::string name;
  sys::UniqueFd content;
};

// All of a file that can be read from any place, at most kMaxProgramBytes; EFBIG where there is
// more. `name` is for errors.
[[nodiscard]] sys::Result<std::string> read_source(int content, const std::string& name);

// Why the program does not run where its stage ended otherwise than by its own verdict: `doing`
// is "compile main.c", `limits_place` says where its limits are raised.
[[nodiscard]] PartFailure stage_failure(const RunRecord& stage, RunStatus verdict,
                                        std::string_view doing, std::string_view limits_place);

}  // namespace wardcase::supervisor
