// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {

// Has records, one a line, judged by supervisor/run/record.schema.json. Its stdout has a line
// "checked STATUS" for each, and one for whatever is wrong with it before.
[[nodiscard]] Outcome judge_records(Caller caller, const std::string& lines);

}  // namespace wardcase::test
