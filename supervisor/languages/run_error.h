// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>

#include "supervisor/languages/told_error.h"
#include "supervisor/run/run_record.h"

namespace wardcase::supervisor {

// What of a run its hints depend on, beside its record.
struct ErrorScene {
  bool has_stdin = false;  // the program was given one
  std::string prelude;     // its name, or ""
};

// Fills in error_type, error_message, traceback and a hint that is not there yet, and, of a
// prelude that failed, error: from the limit that ended the run, or from what the interpreter
// told of a program that failed. Nothing else of the record depends on `told`.
void describe_error(const ToldError& told, const ErrorScene& scene, RunRecord& record);

}  // namespace wardcase::supervisor
