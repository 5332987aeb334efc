// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <optional>
#include <string>

#include "supervisor/server/known_run.h"
#include "supervisor/server/run_store.h"

namespace wardcase::supervisor {

// What is kept of a run in a RunStore: who asked for it and how, and how it ended. None of it is
// of the program but its language; the last event has the record.
[[nodiscard]] std::string accepted_part(const KnownRun& run);
[[nodiscard]] std::string ended_part(const KnownRun& run);

// nullopt: it was not written by these.
[[nodiscard]] std::optional<PastRun> read_past_run(const RunStore::Found& found);

}  // namespace wardcase::supervisor
