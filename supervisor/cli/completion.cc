// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/completion.h"

#include <algorithm>
#include <vector>

#include "supervisor/cli/options.h"
#include "supervisor/cli/verbs.h"

namespace wardcase::supervisor {

namespace {

constexpr std::string_view kMadeBy =
    " SPDX-License-Identifier: Apache-2.0\n"
    "# Copyright The wardcase authors\n"
    "# Made from the table of options by packaging/generate; not to be edited.\n";

constexpr std::string_view kListPolicies = "wardcase policy list 2>/dev/null";

bool has_optional_value(const OptionRow& row) { return row.argument.starts_with("[="); }
bool takes_value(const OptionRow& row) { return !row.argument.empty() && !has_optional_value(row); }
bool takes_policy(const OptionRow& row) { return row.name == "policy"; }
bool takes_path(const OptionRow& row) {
  return row.argument.find("FILE") != std::string::npos ||
         row.argument.find("DIR") != std::string::npos ||
         row.argument.find("PATH") != std::string::npos ||
         row.argument.find("SRC") != std::string::npos;
}

std::string value_words(const OptionRow& row, std::string_view separator) {
  std::string words;
  for (const char letter : row.values) {
    if (letter == '|') {
      words += separator;
    } else {
      words += letter;
    }
  }
  return words;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// Within single quotes of a shell.
std::string quotable(std::string text) { return replaced(std::move(text), "'", "'\\''"); }

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  std::string all;
  for (const std::string& word : words) {
    if (!all.empty()) all += separator;
    all += word;
  }
  return all;
}

// -l and --language, or --json alone.
std::vector<std::string> spellings(const OptionRow& row) {
  std::vector<std::string> all;
  if (!row.short_name.empty()) all.push_back("-" + row.short_name);
  all.push_back("--" + row.name);
  return all;
}

// ---- bash

// Of words that bash has split at = and :, which of ours is being completed.
constexpr std::string_view kBashCore = R"(
# Tells by $wanted what stands at the cursor: the option whose value it is, "word" for a
# word of ours, "program" for one of the program's, "command" for the program of --.
_wardcase_look() {
  local i=2 word
  wanted=word
  while ((i < COMP_CWORD)); do
    word=${COMP_WORDS[i]}
    case $word in
      --) wanted='command' && ((COMP_CWORD > i + 1)) && wanted=program; return ;;
      -?*) if [[ " $1 " == *" $word "* ]]; then
          ((++i < COMP_CWORD)) && [[ ${COMP_WORDS[i]} == '=' ]] && ((++i))
          ((i >= COMP_CWORD)) && { wanted=$word; return; }
        elif [[ ${COMP_WORDS[i + 1]} == '=' ]]; then
          ((i + 2 >= COMP_CWORD)) && { wanted=$word; return; }
        fi ;;
      *) wanted=program; return ;;
    esac
    ((++i))
    while ((i < COMP_CWORD)) && [[ ${COMP_WORDS[i]} == [:=] ]]; do ((i += 2)); done
  done
}
)";

std::string bash_case_of(const OptionRow& row) {
  const std::string pattern = joined(spellings(row), " | ");
  if (takes_policy(row)) {
    return "        " + pattern + ") offered=$(" + std::string(kListPolicies) +
           " | cut -d ' ' -f 1) ;;\n";
  }
  if (row.values.empty()) return "";
  return "        " + pattern + ") offered='" + value_words(row, " ") + "' ;;\n";
}

std::string bash_verb(const Verb& verb) {
  std::vector<std::string> names;
  std::vector<std::string> valued;
  std::string cases;
  for (const OptionRow& row : verb.options()) {
    for (const std::string& name : spellings(row)) {
      names.push_back(name);
      if (takes_value(row)) valued.push_back(name);
    }
    cases += bash_case_of(row);
  }
  const std::vector<std::string> words(verb.words.begin(), verb.words.end());
  std::string text = "    " + std::string(verb.name) + ")\n";
  text += "      _wardcase_look '" + joined(valued, " ") + "'\n";
  text += "      case $wanted in\n        word) ";
  if (!words.empty()) text += "offered='" + joined(words, " ") + "'; ";
  text += "[[ $cur == -* ]] && offered='" + joined(names, " ") + "' ;;\n";
  if (verb.runs_program) text += "        command) offered=$(compgen -c -- \"$cur\") ;;\n";
  if (verb.takes_policy) {
    text += "        program) offered=$(" + std::string(kListPolicies) + " | cut -d ' ' -f 1)\n";
    text += "          [[ $cur == -* ]] && offered='" + joined(names, " ") + "' ;;\n";
  }
  return text + cases + "      esac\n      ;;\n";
}

std::string bash_script() {
  std::string text = "#" + std::string(kMadeBy) + "# shellcheck shell=bash\n";
  text += kBashCore;
  text +=
      "\n_wardcase() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} wanted='' offered='' word words\n"
      "  [[ $cur == '=' ]] && cur=\n"
      "  COMPREPLY=()\n"
      "  case ${COMP_WORDS[1]} in\n"
      "    *) ((COMP_CWORD == 1)) && offered='" +
      verb_names(" ") + "' ;;&\n";
  for (const Verb& verb : verb_table()) {
    if (!verb.words.empty() || !verb.options().empty()) text += bash_verb(verb);
  }
  return text +
         "  esac\n"
         "  # Not by compgen -W, which would expand what names of files and policies hold.\n"
         "  read -r -d '' -a words <<<\"$offered\"\n"
         "  for word in \"${words[@]}\"; do\n"
         "    [[ $word == \"$cur\"* ]] && COMPREPLY+=(\"$word\")\n"
         "  done\n"
         "}\n"
         "complete -o default -F _wardcase wardcase\n";
}

// ---- zsh

std::string zsh_text(std::string text) {
  text = replaced(std::move(text), "\\", "\\\\");
  for (const char* mark : {"[", "]", ":"}) {
    text = replaced(std::move(text), mark, "\\" + std::string(mark));
  }
  return quotable(std::move(text));
}

std::string zsh_action(const OptionRow& row) {
  if (takes_policy(row)) return "_wardcase_policies";
  if (!row.values.empty()) return "(" + value_words(row, " ") + ")";
  return takes_path(row) ? "_files" : " ";
}

// '(-l --language)'{-l+,--language=}'[help]:NAME:(python bash)'
std::string zsh_option(const OptionRow& row) {
  std::string value;
  std::string long_mark;
  if (takes_value(row)) {
    value = ":" + zsh_text(row.argument) + ":" + zsh_action(row);
    long_mark = "=";
  } else if (has_optional_value(row)) {
    value = "::form:(" + value_words(row, " ") + ")";
    long_mark = "=-";
  }
  const std::string help = "[" + zsh_text(row.help) + "]" + value + "'";
  const std::string long_name = "--" + row.name + long_mark;
  if (row.short_name.empty()) return "'*" + long_name + help;
  const std::string short_name = "-" + row.short_name + (takes_value(row) ? "+" : "");
  return "'*'{" + short_name + "," + long_name + "}'" + help;
}

std::string zsh_verb(const Verb& verb) {
  std::string text = "    " + std::string(verb.name) + ")\n      _arguments -s ";
  text += verb.runs_program ? "-S -A '-*' " : "";
  for (const OptionRow& row : verb.options()) text += "\\\n        " + zsh_option(row) + " ";
  if (verb.runs_program) text += "\\\n        '1:program:_files' '*::word:_files'";
  if (!verb.words.empty()) {
    std::string words;
    for (const std::string_view word : verb.words) {
      words += (words.empty() ? "" : " ") + std::string(word);
    }
    text += "\\\n        '1:what:(" + words + ")'";
  }
  if (verb.takes_policy) {
    text += " '*:policy:_wardcase_policies'";
  }
  return text + "\n      ;;\n";
}

std::string zsh_script() {
  std::string text = "#compdef wardcase\n#" + std::string(kMadeBy);
  text +=
      "\n_wardcase_policies() {\n"
      "  local -a names\n"
      "  names=(${${(f)\"$(" +
      std::string(kListPolicies) +
      ")\"}%% *})\n"
      "  compadd -a names\n"
      "  _files\n"
      "}\n\n"
      "_wardcase() {\n"
      "  local -a verbs\n"
      "  verbs=(\n";
  for (const Verb& verb : verb_table()) {
    text += "    '" + std::string(verb.name) + ":" + zsh_text(std::string(verb.help)) + "'\n";
  }
  text +=
      "  )\n"
      "  if ((CURRENT == 2)); then\n"
      "    _describe verb verbs\n"
      "    return\n"
      "  fi\n"
      "  shift words\n"
      "  ((CURRENT--))\n"
      "  case $words[1] in\n";
  for (const Verb& verb : verb_table()) text += zsh_verb(verb);
  return text + "  esac\n}\n\n_wardcase \"$@\"\n";
}

// ---- fish

std::string fish_option(const std::string& condition, const OptionRow& row) {
  std::string line = "complete -c wardcase -n '" + condition + "'";
  if (!row.short_name.empty()) line += " -s " + row.short_name;
  line += " -l " + row.name;
  if (takes_policy(row)) {
    line += " -r -a '(" + std::string(kListPolicies) + " | string split -f 1 \" \")'";
  } else if (!row.values.empty()) {
    line += (takes_value(row) ? " -x" : "") + std::string(" -a '") + value_words(row, " ") + "'";
  } else if (takes_value(row)) {
    line += takes_path(row) ? " -r" : " -x";
  }
  return line + " -d '" + quotable(row.help) + "'\n";
}

std::string fish_script() {
  std::string text = "#" + std::string(kMadeBy) + "\n";
  text += "complete -c wardcase -f\n";
  for (const Verb& verb : verb_table()) {
    const std::string name(verb.name);
    const std::string condition = "__fish_seen_subcommand_from " + name;
    text += "complete -c wardcase -n __fish_use_subcommand -a " + name + " -d '" +
            quotable(std::string(verb.help)) + "'\n";
    if (verb.runs_program) text += "complete -c wardcase -n '" + condition + "' -F\n";
    for (const std::string_view word : verb.words) {
      text += "complete -c wardcase -n '" + condition + "' -a " + std::string(word) + "\n";
    }
    for (const OptionRow& row : verb.options()) text += fish_option(condition, row);
  }
  return text;
}

}  // namespace

std::optional<std::string> completion_script(std::string_view shell) {
  if (shell == "bash") return bash_script();
  if (shell == "zsh") return zsh_script();
  if (shell == "fish") return fish_script();
  return std::nullopt;
}

}  // namespace wardcase::supervisor
