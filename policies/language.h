// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "policies/limits.h"

namespace wardcase::policies {

using Words = std::span<const std::string_view>;

// Limits of a stage of its own, in units of the table of limits; what is not set is the policy's.
struct StageLimits {
  std::optional<std::uint64_t> timeout;
  std::optional<std::uint64_t> memory;
  std::optional<std::uint64_t> pids;
};

// How the program's file is made into what is run. An empty command: it is run as it is.
struct CompileStep {
  Words command;
  std::string_view output;  // what it makes: a file beside the source
  Words environment;        // "NAME=VALUE", on top of the program's
  Words errors;             // what a line about an error looks like (match_error)
  StageLimits limits;
};

// How a program's syntax is checked without a word of it being executed. An empty command: it
// can't be, and `refusal` says why.
struct CheckStep {
  Words command;
  std::string_view script;  // {script} of the command; "" where that has none
  Words errors;
  std::string_view refusal;
};

// One way to run programs of a language. Commands are templates (fill_template).
struct Runner {
  Words interpreters;                // or compilers: looked for in this order on the box's PATH
  std::string_view package;          // Debian's name of what has them
  std::string_view minimum_version;  // "3.8", or "" for any
  Words version;                     // what an interpreter is called with to tell its version
  Words run;
  CompileStep compile;
  CheckStep check;
};

// A snippet of this look gets another name than the usual one.
struct SnippetVariant {
  std::string_view name;  // "" for none
  Words line_starts;      // a line begins with one of them
  Words unless;           // and none of these is anywhere in it
};

// How programs of a language are run. Data: policies/languages/*.toml and files like them.
struct Language {
  std::string_view name;          // "python"
  std::string_view origin;        // "built in", or the file
  Words aliases;                  // "py", "python3"
  Words suffixes;                 // ".py"
  std::string_view snippet_name;  // "main.py": what -c code is called
  SnippetVariant variant;
  std::span<const Runner> runners;  // at least one; the first that the host has counts
  Words environment;        // "NAME=VALUE" for all programs; may have {heap_mib} and the like
  Words etc_paths;          // what of /etc it needs beyond the common ones, if present
  Words allow_syscalls;     // as by --allow-syscalls, where the policy lets them be allowed
  StageLimits needs;        // defaults of limits that are below are raised to these
  Words warm_up;            // modules that are worth loading ahead
  std::string_view hook;    // what makes its interpreter tell errors; "" for nothing
  std::string_view worker;  // what keeps its interpreter alive in sessions; "" for nothing
};

[[nodiscard]] inline bool has_check(const Language& language) {
  return !language.runners.front().check.command.empty();
}

// The languages of the binary, from policies/languages/*.toml.
[[nodiscard]] std::span<const Language> shipped_languages();

}  // namespace wardcase::policies
