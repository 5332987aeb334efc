// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "supervisor/languages/artifact_search.h"
#include "supervisor/languages/job.h"
#include "supervisor/languages/out_directory.h"

namespace wardcase::supervisor {

// Lists in the record what the program left in /box that is new or has changed, and brings it to
// `out` if there is one. What was put there is none, as are mounts below /box and files that a
// workspace had; a workspace that is only read has none at all. Comes after all parts that put
// files there.
[[nodiscard]] std::unique_ptr<JobPart> make_artifacts_part(std::optional<OutDirectory> out);

// The path below /box; "" for what is not there.
[[nodiscard]] std::string name_in_box(std::string_view path);

// Puts what was found, and a word on what was not, into the record.
void tell_artifacts(FoundArtifacts found, RunRecord& record);

}  // namespace wardcase::supervisor
