// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "supervisor/server/api_call.h"
#include "supervisor/server/known_run.h"

namespace wardcase::supervisor {

// RFC 3339, in UTC.
[[nodiscard]] std::string time_text(std::chrono::system_clock::time_point when);

// What a run is told as.

// What the head of each answer about it has.
[[nodiscard]] HttpResponse head_of(const KnownRun& run);
// Its record; what there is of it where it goes on, and a problem where it has none.
[[nodiscard]] HttpResponse record_of(const KnownRun& run);
// That of its end, once that is there.
void answer_at_end(KnownRun& run, RunReader::Bond bond, Exchange& exchange);
// It goes on, and this is where to ask for it.
[[nodiscard]] HttpResponse accepted(const KnownRun& run);
// Of all of them, a line each.
[[nodiscard]] HttpResponse list_of(const std::vector<const KnownRun*>& runs);

}  // namespace wardcase::supervisor
