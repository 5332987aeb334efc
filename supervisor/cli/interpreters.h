// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policies/language.h"

namespace wardcase::supervisor {

enum class Usability : std::uint8_t {
  usable,
  missing,
  hidden,  // where a box does not show it
  too_old,
  broken,  // it can't tell its version
};

// Whether this host can run programs of a language, and by what.
struct FoundInterpreter {
  std::string language;
  Usability usability = Usability::missing;
  std::string path;  // in the box; "" where there is none on its PATH
  // The first line of what it says of itself; nullopt where that fails, says nothing, takes longer
  // than some seconds, or where it is not asked for.
  std::optional<std::string> version;
  std::string problem;  // why it can't be used; "" where it can
  std::string fix;      // what helps; "" where nothing has to
};

// Starts each interpreter that is found in the directories of `path`, for its version.
[[nodiscard]] std::vector<FoundInterpreter> find_interpreters(
    std::span<const policies::Language> languages, std::string_view path);

}  // namespace wardcase::supervisor
