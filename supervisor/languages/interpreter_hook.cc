// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/interpreter_hook.h"

#include <algorithm>
#include <iterator>

namespace wardcase::supervisor {
namespace {

constexpr std::string_view kPythonFiles[] = {"sitecustomize.py", "report.py", "figures.py"};
constexpr std::string_view kPythonPrelude[] = {"prelude.py"};

// Node.js tells of a full heap by a report alone, in the same place. Its words on stderr are
// Node.js' own, beside what it writes there of such an end anyway.
constexpr std::string_view kNodeFiles[] = {"hook.cjs"};
constexpr std::string_view kNodeArguments[] = {
    "--report-on-fatalerror", "--report-compact", "--report-filename=/proc/self/fd/3",
    "--require",  // last: hook.cjs takes all up to it for ours
    "/run/wardcase/.hook/hook.cjs"};

constexpr std::string_view kRubyFiles[] = {"hook.rb"};
constexpr std::string_view kRubyArguments[] = {"-r", "/run/wardcase/.hook/hook.rb"};

constexpr std::string_view kBashPrelude[] = {"prelude.sh"};

constexpr InterpreterHook kHooks[] = {
    {.name = "python",
     .files = kPythonFiles,
     .prelude_files = kPythonPrelude,
     .arguments = {},
     .search_path = "PYTHONPATH",
     .start_file = {},
     .tells_errors = true,
     .runs_preludes = true},
    {.name = "node",
     .files = kNodeFiles,
     .prelude_files = {},
     .arguments = kNodeArguments,
     .search_path = {},
     .start_file = {},
     .tells_errors = true,
     .runs_preludes = true},
    {.name = "ruby",
     .files = kRubyFiles,
     .prelude_files = {},
     .arguments = kRubyArguments,
     .search_path = {},
     .start_file = {},
     .tells_errors = true,
     .runs_preludes = false},
    {.name = "bash",
     .files = {},
     .prelude_files = kBashPrelude,
     .arguments = {},
     .search_path = {},
     .start_file = "BASH_ENV",
     .tells_errors = false,
     .runs_preludes = true},
};

}  // namespace

const InterpreterHook* find_hook(std::string_view name) {
  const auto* const found = std::ranges::find(kHooks, name, &InterpreterHook::name);
  return found == std::end(kHooks) ? nullptr : found;
}

}  // namespace wardcase::supervisor
