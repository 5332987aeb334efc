// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "supervisor/run/run_record.h"

namespace wardcase::supervisor {

enum class Verdict : std::uint8_t {
  passed,
  wrong_answer,
  run_failed,  // it did not exit with 0, or nobody could judge it
  skipped,     // it did not run to its end, and nobody says why not of the program
};

// What became of one case of a batch.
struct CaseOutcome {
  Verdict verdict = Verdict::skipped;
  std::string reason;                         // a sentence; "" where it has passed
  std::optional<std::string> checker_output;  // the beginning of what the checker said
  std::optional<RunRecord> record;            // of the program, if it ran
};

// Why the record is not one of success.
[[nodiscard]] std::string describe_end(const RunRecord& record);

// As members of a JSON object, without braces.
[[nodiscard]] std::string to_members(std::size_t index, const CaseOutcome& outcome,
                                     OutputForm form);

// Leaves out of the record what a program can make long.
void shorten(RunRecord& record);

}  // namespace wardcase::supervisor
