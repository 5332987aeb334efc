// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "supervisor/languages/requirement.h"

namespace wardcase::supervisor {

// Lists of requirements as people keep them. `file` is the name in errors, which tell the line
// where there are lines.

inline constexpr std::size_t kLongestRequirementFile = 1 << 20;

// requirements.txt: a requirement a line, comments, lines that go on after a backslash. Options
// (-r, -e, --index-url) are refused: what may be installed from where is the policy's to say.
[[nodiscard]] sys::Result<std::vector<Requirement>> parse_requirements_txt(std::string_view text,
                                                                           std::string_view file);

// The `dependencies` and `optionalDependencies` of a package.json; its scripts are not run.
[[nodiscard]] sys::Result<std::vector<Requirement>> parse_package_json(std::string_view text,
                                                                       std::string_view file);

// The `dependencies` that a Python program names in its own head (PEP 723): none where it has no
// such block, an error where that is not well-formed.
[[nodiscard]] sys::Result<std::vector<Requirement>> parse_script_block(std::string_view program,
                                                                       std::string_view file);

// What such a file holds, which is called `name`.
struct RequirementText {
  std::string name;
  std::string text;
};
// By installer: requirements.txt or package.json.
[[nodiscard]] sys::Result<std::vector<Requirement>> parse_requirement_file(
    policies::Installer installer, const RequirementText& file);

// Opened with the caller's rights.
[[nodiscard]] sys::Result<RequirementText> read_requirement_text(const std::string& path);

}  // namespace wardcase::supervisor
