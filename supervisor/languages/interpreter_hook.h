// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <span>
#include <string_view>

namespace wardcase::supervisor {

// Where the files of a hook are in the box. Hidden: beside a workspace a program's own file is in
// the directory above.
inline constexpr std::string_view kHookDirectory = "/run/wardcase/.hook";
// Names the file of a prelude to the hook, which takes it away before the program can see it.
inline constexpr std::string_view kPreludeVariable = "WARDCASE_PRELUDE";

// How an interpreter is brought to tell of the exception that ends a program, and to run a prelude
// before it. Names of files are of supervisor/languages/hooks, which is shipped in the binary.
struct InterpreterHook {
  std::string_view name;  // as languages call it
  std::span<const std::string_view> files;
  std::span<const std::string_view> prelude_files;  // beside those, where there is a prelude
  std::span<const std::string_view> arguments;      // between the interpreter and its own
  std::string_view search_path;  // this variable gets kHookDirectory in front; "": none
  std::string_view start_file;   // this one names the first of prelude_files; "": none
  bool tells_errors;             // false: it is there for preludes alone
  bool runs_preludes;
};

// nullptr if there is none of that name.
[[nodiscard]] const InterpreterHook* find_hook(std::string_view name);

// What is in one of the files; empty for an unknown name.
[[nodiscard]] std::string_view hook_text(std::string_view file_name);

}  // namespace wardcase::supervisor
