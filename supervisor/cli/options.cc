// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/options.h"

#include <algorithm>
#include <boost/program_options.hpp>

namespace wardcase::supervisor {

namespace po = boost::program_options;

namespace {

using Values = std::vector<std::string>;

// Its value can only be joined to it: --dry-run=json.
bool has_optional_value(const OptionRow& row) { return row.argument.starts_with("[="); }

po::options_description describe(std::span<const OptionRow> table) {
  po::options_description description;
  for (const OptionRow& row : table) {
    const std::string names = row.short_name.empty() ? row.name : row.name + "," + row.short_name;
    if (row.argument.empty()) {
      description.add_options()(names.c_str(), row.help.c_str());
    } else if (has_optional_value(row)) {
      description.add_options()(names.c_str(), po::value<Values>()->implicit_value({}, ""),
                                row.help.c_str());
    } else {
      description.add_options()(names.c_str(), po::value<Values>(), row.help.c_str());
    }
  }
  return description;
}

bool takes_value(std::span<const OptionRow> table, std::string_view name, bool is_short) {
  return std::ranges::any_of(table, [&](const OptionRow& row) {
    return !row.argument.empty() && !has_optional_value(row) &&
           (is_short ? row.short_name : row.name) == name;
  });
}

// The word up to where its value begins: "--memory" of "--memory=64m", "-qm" of "-qm64m".
std::string_view without_value(std::span<const OptionRow> table, std::string_view word) {
  if (word[1] == '-') return word.substr(0, word.find('='));
  std::size_t letter = 1;
  while (letter < word.size() && !takes_value(table, word.substr(letter, 1), /*is_short=*/true)) {
    ++letter;
  }
  return word.substr(0, letter + 1);
}

// Whether the word's option has its value in the word behind it.
bool wants_next_word(std::span<const OptionRow> table, std::string_view word) {
  const std::string_view name = without_value(table, word);
  if (name.size() != word.size()) return false;
  return word[1] == '-' ? takes_value(table, word.substr(2), /*is_short=*/false)
                        : takes_value(table, word.substr(word.size() - 1), /*is_short=*/true);
}

bool is_known(std::span<const OptionRow> table, std::string_view name) {
  if (name[1] == '-') {
    return std::ranges::any_of(table,
                               [&](const OptionRow& row) { return name.substr(2) == row.name; });
  }
  return std::ranges::all_of(name.substr(1), [&](char letter) {
    return std::ranges::any_of(table, [&](const OptionRow& row) {
      return row.short_name == std::string_view(&letter, 1);
    });
  });
}

// Boost puts what was written into its errors in place of %placeholders%, until none is left:
// an unknown option that looks like one would keep it busy for ever. So it never sees any.
sys::Status check_names(std::span<const OptionRow> table, const Values& ours) {
  for (const std::string& word : ours) {
    if (word.size() < 2 || word[0] != '-') continue;  // the value of the word before it
    const std::string_view name = without_value(table, word);
    if (is_known(table, name)) continue;
    return tl::unexpected(
        sys::plain_error("unrecognised option '" + std::string(name) + "'; see --help"));
  }
  return {};
}

// Moves the words that are ours from the front of `words`. Boost would go on
// looking for options behind the file, and those are the program's; and it
// would not take a value that looks like an option, unless it is joined to its own.
Values take_option_words(std::span<const OptionRow> table, std::span<const std::string>& words) {
  Values ours;
  while (!words.empty() && words[0].size() >= 2 && words[0][0] == '-' && words[0] != "--") {
    ours.push_back(words[0]);
    const bool has_value = wants_next_word(table, words[0]) && words.size() > 1;
    if (has_value && words[1].starts_with('-')) {
      ours.back() += (words[0][1] == '-' ? "=" : "") + words[1];
    } else if (has_value) {
      ours.push_back(words[1]);
    }
    words = words.subspan(has_value ? 2 : 1);
  }
  return ours;
}

}  // namespace

sys::Result<CommandLine> CommandLine::parse(std::span<const OptionRow> table,
                                            std::span<const std::string> words) {
  const Values ours = take_option_words(table, words);
  CommandLine line;
  line.operands_.assign(words.begin(), words.end());
  if (auto checked = check_names(table, ours); !checked) return tl::unexpected(checked.error());
  constexpr int kStyle =
      po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
  try {
    const po::options_description description = describe(table);
    const po::parsed_options parsed =
        po::command_line_parser(ours).options(description).style(kStyle).run();
    for (const po::option& option : parsed.options) {
      Values& values = line.values_[option.string_key];
      values.insert(values.end(), option.value.begin(), option.value.end());
    }
  } catch (const po::error& error) {
    return tl::unexpected(sys::plain_error(std::string(error.what()) + "; see --help"));
  }
  return line;
}

sys::Result<CommandLine> CommandLine::parse_named(std::span<const OptionRow> table,
                                                  std::span<const std::string> words) {
  auto first = parse(table, words);
  if (!first || first->operands_.empty()) return first;
  const std::size_t place = words.size() - first->operands_.size();
  std::vector<std::string> others(words.begin(), words.end());
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(place));
  auto all = parse(table, others);
  if (all) all->operands_.insert(all->operands_.begin(), words[place]);
  return all;
}

const std::string* CommandLine::last(const std::string& name) const {
  const auto values = all(name);
  return values.empty() ? nullptr : &values.back();
}

std::span<const std::string> CommandLine::all(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return {};
  return found->second;
}

}  // namespace wardcase::supervisor
