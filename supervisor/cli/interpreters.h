// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wardcase::supervisor {

// What this host has to run programs of a language with.
struct FoundInterpreter {
  std::string_view language;
  std::string path;     // "" where none is on the box's PATH
  std::string version;  // the first line of what --version prints
};

// Starts each interpreter that is found, for its version.
[[nodiscard]] std::vector<FoundInterpreter> find_interpreters();

}  // namespace wardcase::supervisor
