// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "policies/language.h"

#include <algorithm>

namespace wardcase::policies {
namespace {

using Names = std::string_view[];

constexpr Names kPythonAliases = {"py", "python3"};
constexpr Names kPythonSuffixes = {".py"};
constexpr Names kPythonInterpreters = {"python3"};
// By environment and not by option, so that a Python started by the program
// streams its output and speaks UTF-8, too.
constexpr Names kPythonEnvironment = {"PYTHONUNBUFFERED=1", "PYTHONUTF8=1",
                                      "PYTHONIOENCODING=utf-8", "PYTHONDONTWRITEBYTECODE=1"};
// For the module mimetypes; Debian's matplotlib does not start without the other.
constexpr Names kPythonEtc = {"/etc/mime.types", "/etc/matplotlibrc"};

constexpr Names kJavascriptAliases = {"js", "node", "nodejs"};
constexpr Names kJavascriptSuffixes = {".js", ".mjs", ".cjs"};
constexpr Names kJavascriptInterpreters = {"node", "nodejs"};

constexpr Names kBashAliases = {"sh", "shell"};
constexpr Names kBashSuffixes = {".sh", ".bash"};
constexpr Names kBashInterpreters = {"bash"};

constexpr Language kLanguages[] = {
    {.name = "python",
     .aliases = kPythonAliases,
     .suffixes = kPythonSuffixes,
     .interpreters = kPythonInterpreters,
     .arguments = {},
     .snippet_name = "main.py",
     .environment = kPythonEnvironment,
     .etc_paths = kPythonEtc},
    {.name = "javascript",
     .aliases = kJavascriptAliases,
     .suffixes = kJavascriptSuffixes,
     .interpreters = kJavascriptInterpreters,
     .arguments = {},
     .snippet_name = "main.js",
     .environment = {},
     .etc_paths = {}},
    {.name = "bash",
     .aliases = kBashAliases,
     .suffixes = kBashSuffixes,
     .interpreters = kBashInterpreters,
     .arguments = {},
     .snippet_name = "main.sh",
     .environment = {},
     .etc_paths = {}},
};

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

template <typename Predicate>
const Language* find_where(Predicate predicate) {
  const auto found = std::ranges::find_if(kLanguages, predicate);
  return found == std::end(kLanguages) ? nullptr : found;
}

}  // namespace

std::span<const Language> languages() { return kLanguages; }

const Language* find_language(std::string_view name_or_alias) {
  return find_where([&](const Language& language) {
    return language.name == name_or_alias || contains(language.aliases, name_or_alias);
  });
}

const Language* language_of_file(std::string_view file_name) {
  const std::string_view name = file_name.substr(file_name.rfind('/') + 1);  // npos + 1 is 0
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return nullptr;  // ".py" is a hidden file
  return find_where(
      [&](const Language& language) { return contains(language.suffixes, name.substr(dot)); });
}

}  // namespace wardcase::policies
