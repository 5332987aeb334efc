// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policies/policy.h"
#include "sandbox/sys/error.h"

namespace wardcase::supervisor {

// One thing that a program needs, in the words of its installer: checked to be a name with
// versions and never an option, a path, a URL or a command.
struct Requirement {
  std::string name;  // as the index has it: lower case, one '-' where '-', '_' and '.' were
  std::string text;  // what is asked for in full, in one spelling: "numpy==1.26"
};

// All that is asked for at once, and the longest of one.
inline constexpr std::size_t kMostRequirements = 256;
inline constexpr std::size_t kLongestRequirement = 1024;

// PEP 508 without `@ URL`: `pandas`, `numpy==1.26`, `requests[socks]>=2; python_version > "3.8"`,
// and after it `--hash=sha256:...`, as lock files have it.
[[nodiscard]] sys::Result<Requirement> parse_python_requirement(std::string_view text);

// `left-pad`, `left-pad@1.3.0`, `@scope/name@^2 || ^3`. The text is NAME@RANGE.
[[nodiscard]] sys::Result<Requirement> parse_npm_requirement(std::string_view text);

[[nodiscard]] sys::Result<Requirement> parse_requirement(policies::Installer installer,
                                                         std::string_view text);

// In one order, each once. Fails where there are too many.
[[nodiscard]] sys::Result<std::vector<Requirement>> settle_requirements(
    std::vector<Requirement> requirements);

// Whose requirements a language has; nullopt: nothing is known of that.
[[nodiscard]] std::optional<policies::Installer> installer_of(std::string_view language);

}  // namespace wardcase::supervisor
