// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/languages_command.h"

#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>

#include "supervisor/cli/console.h"
#include "supervisor/cli/interpreters.h"
#include "supervisor/config/config.h"
#include "supervisor/run/record_parts.h"
#include "supervisor/run/run_spec.h"

namespace wardcase::supervisor {
namespace {

namespace json = boost::json;

constexpr int kWrongUse = 125;
constexpr int kSchemaVersion = 1;
constexpr std::size_t kNameWidth = 12;
constexpr std::size_t kPathWidth = 20;

constexpr std::string_view kHelp =
    R"(wardcase languages: tells which languages can be run on this host, by which interpreter or
compiler and of which version, and what the others lack.

  wardcase languages           a line for each
  wardcase languages --json    one JSON object

Files in languages/ of /etc/wardcase and of ~/.config/wardcase add languages, or replace those of
the same name; see wardcase-language(5).
)";

int fail(const sys::Error& error) {
  Console(Verbosity::normal).say("languages: " + error.message());
  return kWrongUse;
}

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size() + 1), ' ');
  return text;
}

std::string line_of(const FoundInterpreter& found, const policies::Language& language) {
  std::string line = padded(found.language, kNameWidth);
  if (found.usability == Usability::usable) {
    line += padded(found.path, kPathWidth) + found.version.value_or("");
  } else {
    line += "no: " + found.problem + "; " + found.fix;
  }
  while (line.ends_with(' ')) line.pop_back();
  if (language.origin != policies::kBuiltIn) line += " (" + std::string(language.origin) + ")";
  return printable(line) + "\n";
}

json::array names_of(policies::Words words) {
  json::array names;
  for (const std::string_view word : words) names.emplace_back(to_json_text(word));
  return names;
}

json::value text_or_null(const std::string& text) {
  return text.empty() ? json::value(nullptr) : json::value(to_json_text(text));
}

json::object to_json(const FoundInterpreter& found, const policies::Language& language) {
  return {{"name", to_json_text(language.name)},
          {"aliases", names_of(language.aliases)},
          {"suffixes", names_of(language.suffixes)},
          {"origin", to_json_text(language.origin)},
          {"usable", found.usability == Usability::usable},
          {"interpreter", text_or_null(found.path)},
          {"version", text_or_null(found.version.value_or(""))},
          {"compiled", !language.runners.front().compile.command.empty()},
          {"checked", has_check(language)},
          {"problem", to_json_text(found.problem)},
          {"fix", to_json_text(found.fix)}};
}

}  // namespace

int print_languages_help() { return write_all(STDOUT_FILENO, kHelp) ? 0 : kWrongUse; }

std::vector<OptionRow> languages_option_table() {
  return {{"json", "", "", "print one JSON object instead of lines"}};
}

int languages_command(std::span<const std::string> words) {
  const auto line = CommandLine::parse(languages_option_table(), words);
  if (!line) return fail(line.error());
  if (!line->operands().empty()) {
    return fail(sys::plain_error("takes no arguments, not '" + line->operands()[0] + "'"));
  }
  const auto languages = load_languages(config_places());
  if (!languages) return fail(languages.error());
  const auto found = find_interpreters(languages->all(), kBoxPath);
  std::string text;
  json::array rows;
  for (std::size_t i = 0; i < found.size(); ++i) {
    text += line_of(found[i], languages->all()[i]);
    rows.emplace_back(to_json(found[i], languages->all()[i]));
  }
  if (line->has("json")) {
    text = json::serialize(
               json::object{{"schema_version", kSchemaVersion}, {"languages", std::move(rows)}}) +
           "\n";
  }
  return write_all(STDOUT_FILENO, text) ? 0 : kWrongUse;
}

}  // namespace wardcase::supervisor
