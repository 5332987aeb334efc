// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "policies/limits.h"
#include "policies/policy.h"
#include "sandbox/sys/error.h"
#include "supervisor/cli/console.h"
#include "supervisor/cli/options.h"
#include "supervisor/config/config.h"
#include "supervisor/languages/program.h"
#include "supervisor/run/run_record.h"

namespace wardcase::supervisor {

// What the caller's stdout gets.
enum class OutputMode : std::uint8_t {
  pass_through,  // the program's own bytes
  json,          // one record at the end
  events,        // a line for each event, as it comes
};

// --file: a file of the host, and its name below /box.
struct NamedFile {
  std::string name;
  std::string path;
};

// What a dry run prints.
enum class DryRunForm : std::uint8_t { text, json };

// What `wardcase run` was asked for, checked as far as that needs no box.
struct RunOptions {
  bool help = false;  // nothing else is read then
  ProgramSource source;
  Configuration configuration;  // of the files and the policy; what follows is settled from it
  policies::Limits limits;
  // Who set each limit: "--timeout", "WARDCASE_TIMEOUT", "FILE:LINE" or "built in".
  std::array<std::string, policies::kLimitCount> limit_origins;
  std::vector<std::string> environment;  // "NAME=VALUE", on top of the standard ones
  std::vector<policies::Mount> mounts;
  std::vector<policies::Mount> interpreter_mounts;
  std::string cwd = "/box";
  bool pass_stdin = false;
  bool terminal = false;  // pass_stdin is true, too, and stdin is a terminal
  std::optional<std::string> stdin_file;
  std::vector<NamedFile> files;
  bool merge_stderr = false;
  std::optional<std::string> encoding_fallback;
  policies::Network network = policies::Network::none;
  OutputMode mode = OutputMode::pass_through;
  OutputForm form = OutputForm::text;
  std::optional<int> status_fd;
  std::optional<std::string> saved_output;  // a directory
  std::optional<std::string> out;           // a directory
  std::optional<std::string> meta;          // a file
  std::optional<DryRunForm> dry_run;        // nothing is run then
  std::optional<std::string> session;       // it runs there
  CommandLine line;                         // as it was written
  bool timing = false;
  bool exit_zero = false;
  Verbosity verbosity = Verbosity::normal;
  ColorChoice color = ColorChoice::automatic;
};

// What a box is made of, without a program: the configuration, limits, environment, mounts and
// network that `line` (of a table with run's own rows) and our environment choose.
[[nodiscard]] sys::Status take_box_options(const CommandLine& line, RunOptions& options);

// What --requirement and --requirements name.
[[nodiscard]] RequirementSource requirements_of(const CommandLine& line);

// The options of run, those of the limits included.
[[nodiscard]] std::vector<OptionRow> run_option_table();

// Reads the configuration that the words and the environment choose. Errors are wrong
// use: they name the option, the value and what to write.
[[nodiscard]] sys::Result<RunOptions> parse_run_options(std::span<const std::string> words);

}  // namespace wardcase::supervisor
