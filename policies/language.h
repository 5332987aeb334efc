// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <span>
#include <string_view>

namespace wardcase::policies {

// How programs of a language are started. Data; the shipped ones are a table.
struct Language {
  std::string_view name;                           // "python"
  std::span<const std::string_view> aliases;       // "py", "python3"
  std::span<const std::string_view> suffixes;      // ".py"
  std::span<const std::string_view> interpreters;  // looked for in this order on the box's PATH
  std::span<const std::string_view> arguments;     // between the interpreter and the file
  std::string_view snippet_name;                   // "main.py": what -c code is called
  std::span<const std::string_view> environment;   // "NAME=VALUE"
  std::span<const std::string_view>
      etc_paths;  // what of /etc it needs beyond the common ones, if present
};

[[nodiscard]] std::span<const Language> languages();

// By name or alias; nullptr if there is none.
[[nodiscard]] const Language* find_language(std::string_view name_or_alias);
// By the suffix of a file name; nullptr if there is none.
[[nodiscard]] const Language* language_of_file(std::string_view file_name);

}  // namespace wardcase::policies
