// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/check_command.h"

#include <algorithm>
#include <iterator>

#include "supervisor/cli/console.h"
#include "supervisor/cli/run_command.h"
#include "supervisor/cli/run_options.h"

// A check is a run with --validate: this verb says so for each of several files.
namespace wardcase::supervisor {
namespace {

constexpr int kWrongUse = 125;
// Options of a run that mean something for a check.
constexpr std::string_view kOptions[] = {
    "language", "code", "interpreter", "workspace", "volume", "file",    "policy", "timeout",
    "memory",   "pids", "json",        "exit-zero", "quiet",  "verbose", "color",
};

int check_one(std::span<const std::string> options, const std::string* file) {
  std::vector<std::string> words(options.begin(), options.end());
  words.emplace_back("--validate");
  if (file != nullptr) words.push_back(*file);
  return run_command(words);
}

}  // namespace

std::vector<OptionRow> check_option_table() {
  std::vector<OptionRow> rows = run_option_table();
  std::erase_if(rows, [](const OptionRow& row) {
    return std::ranges::find(kOptions, row.name) == std::end(kOptions);
  });
  return rows;
}

int check_command(std::span<const std::string> words) {
  const auto line = CommandLine::parse(check_option_table(), words);
  if (!line) {
    Console(Verbosity::normal).say("check: " + line.error().message());
    return kWrongUse;
  }
  const auto files = line->operands();
  const auto options = words.first(words.size() - files.size());
  if (line->has("code")) {
    if (files.empty()) return check_one(options, nullptr);
    Console(Verbosity::normal).say("check: -c CODE and '" + files[0] + "': give one of them");
    return kWrongUse;
  }
  if (files.empty()) {
    Console(Verbosity::normal).say("check: nothing to check; give a FILE, -c CODE or - (stdin)");
    return kWrongUse;
  }
  int exit_code = 0;
  for (const std::string& file : files) {
    const int its_own = check_one(options, &file);
    if (exit_code == 0) exit_code = its_own;
  }
  return exit_code;
}

}  // namespace wardcase::supervisor
