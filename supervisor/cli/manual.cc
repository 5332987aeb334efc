// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/manual.h"

#include <algorithm>
#include <cctype>

namespace wardcase::supervisor {

namespace {

constexpr std::size_t kWidth = 95;

bool begins_option(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && word[1] != ' ';
}

// A word for roff: its own characters escaped, options in bold.
std::string roff_word(std::string_view word) {
  std::size_t end = word.size();
  if (begins_option(word)) {
    while (end > 1 && std::isalnum(static_cast<unsigned char>(word[end - 1])) == 0) --end;
  }
  std::string text = begins_option(word) ? "\\fB" : "";
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (i == end) text += "\\fP";
    if (word[i] == '\\') {
      text += "\\e";
    } else if (word[i] == '-' && begins_option(word)) {
      text += "\\-";
    } else {
      text += word[i];
    }
  }
  return begins_option(word) && end == word.size() ? text + "\\fP" : text;
}

// Lines of words, a sentence beginning on a new one; none begins as a request would.
std::string roff_lines(std::string_view text) {
  std::string lines;
  std::string line;
  const auto end_line = [&] {
    if (!line.empty()) lines += line + "\n";
    line.clear();
  };
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    const std::string shown = roff_word(word);
    if (line.size() + 1 + shown.size() > kWidth) end_line();
    if (line.empty()) {
      line = shown.starts_with('.') || shown.starts_with('\'') ? "\\&" + shown : shown;
    } else {
      line += " " + shown;
    }
    if (word.ends_with('.')) end_line();
  }
  end_line();
  return lines;
}

std::string as_sentence(std::string text) {
  // A word in capitals is a name, and the first words of some are options.
  if (!text.empty()) {
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  }
  return text.ends_with('.') ? text : text + ".";
}

std::string item_head(const OptionRow& row) {
  std::string head = ".It ";
  if (!row.short_name.empty()) head += "Fl " + row.short_name + " , ";
  head += "Fl -" + row.name;
  if (row.argument.starts_with("[=")) {
    const std::string word = row.argument.substr(2, row.argument.size() - 3);
    head += " Ns Op = Ns Cm " + word;
  } else if (!row.argument.empty()) {
    head += " Ar " + row.argument;
  }
  return head + "\n";
}

}  // namespace

std::string to_mdoc(std::span<const OptionRow> table) {
  std::string text;
  std::string_view group;
  for (const OptionRow& row : table) {
    if (row.group != group) {
      if (!group.empty()) text += ".El\n";
      group = row.group;
      text += ".Ss " + std::string(group) + "\n.Bl -tag -width Ds\n";
    }
    text += item_head(row) + roff_lines(as_sentence(row.help)) + roff_lines(row.more);
  }
  return text.empty() ? text : text + ".El\n";
}

}  // namespace wardcase::supervisor
