// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wardcase::supervisor {

// What this host has to run programs of a language with.
struct FoundInterpreter {
  std::string_view language;
  std::string path;  // "" where none is on the box's PATH
  // The first line of what --version prints; nullopt where that fails, says nothing or
  // takes longer than some seconds.
  std::optional<std::string> version;
};

// Starts each interpreter that is found in the directories of `path`, for its version.
[[nodiscard]] std::vector<FoundInterpreter> find_interpreters(std::string_view path);

}  // namespace wardcase::supervisor
