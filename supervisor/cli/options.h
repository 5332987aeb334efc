// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/error.h"

namespace wardcase::supervisor {

// One option of a verb. Parsing, --help, the manual and the completions of shells come
// from tables of these.
struct OptionRow {
  std::string name;        // "timeout"
  std::string short_name;  // "m", or ""
  std::string argument;    // "TIME"; "" for a switch; "[=WORD]": a switch that may have a value
  std::string help;
  std::string_view group = "";  // the heading under which the manual has it
  std::string_view more = "";   // what only the manual says, as whole sentences
  std::string values = "";      // those that completions offer, with | between them
};

// What was written, not yet understood.
class CommandLine {
 public:
  // Reads options until the first word that is none: that word (a file, "-" or
  // "--") and all after it are operands(), untouched. Names are never guessed from
  // a part. The error names the option and what to do.
  CommandLine() = default;
  static sys::Result<CommandLine> parse(std::span<const OptionRow> table,
                                        std::span<const std::string> words);
  // The same for verbs whose first operand is a name: behind it options may stand as well.
  static sys::Result<CommandLine> parse_named(std::span<const OptionRow> table,
                                              std::span<const std::string> words);

  [[nodiscard]] bool has(const std::string& name) const { return values_.contains(name); }
  // Of an option that is given once; given more often, the last one counts. nullptr: not given,
  // or given without a value.
  [[nodiscard]] const std::string* last(const std::string& name) const;
  [[nodiscard]] std::span<const std::string> all(const std::string& name) const;
  [[nodiscard]] std::span<const std::string> operands() const { return operands_; }

 private:
  std::map<std::string, std::vector<std::string>> values_;  // a switch has no values
  std::vector<std::string> operands_;
};

}  // namespace wardcase::supervisor
