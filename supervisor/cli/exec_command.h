// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "supervisor/cli/console.h"
#include "supervisor/cli/options.h"
#include "supervisor/languages/out_directory.h"
#include "supervisor/run/run_spec.h"
#include "supervisor/sessions/keeper_request.h"

namespace wardcase::supervisor {

[[nodiscard]] std::vector<OptionRow> exec_option_table();

// A program for a session, and what becomes of its output.
struct ExecCall {
  std::string id;  // of the session
  KeeperRequest request;
  bool passes_stdin = false;
  bool is_json = false;
  bool tells_result = false;        // of its last expression, on stdout
  std::vector<PlacedFile> files;    // that are put into /box before it begins
  std::optional<OutDirectory> out;  // where its artifacts are brought
  bool exit_zero = false;
  Verbosity verbosity = Verbosity::normal;
};
// Runs it and tells its end: the exit code of run. ENOENT: there is no such session.
[[nodiscard]] sys::Result<int> exec_in_session(const ExecCall& call);
// Makes the directory that `call`'s artifacts are brought to. Errors name --out.
[[nodiscard]] sys::Status open_out(const std::string& path, ExecCall& call);
// All that can be read from `fd`, 16 MiB at most.
[[nodiscard]] sys::Result<std::string> read_program(int fd);

// `wardcase exec ID ...`: runs a program in a session, and exits as run does. `words`: what
// follows the verb.
[[nodiscard]] int exec_command(std::span<const std::string> words);

}  // namespace wardcase::supervisor
