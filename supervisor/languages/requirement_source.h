// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/languages/requirement.h"
#include "supervisor/languages/requirement_files.h"

namespace wardcase::supervisor {

// What somebody asked to have installed for a program.
struct RequirementSource {
  std::vector<std::string> words;  // one requirement each
  std::vector<std::string> files;  // of the host: requirements.txt or package.json
};

// The same with what the files hold.
struct AskedRequirements {
  std::vector<std::string> words;
  std::vector<RequirementText> files;
  [[nodiscard]] bool empty() const { return words.empty() && files.empty(); }
};
[[nodiscard]] sys::Result<AskedRequirements> read_requirements(const RequirementSource& source);

// So much of a program is looked at for a list of its own.
inline constexpr std::size_t kRequirementHead = 64 << 10;

// All that a program needs: what was asked for, and what its own head names, where it is Python
// (PEP 723). Errors name what is wrong; `name` is the program's.
[[nodiscard]] sys::Result<std::vector<Requirement>> collect_requirements(
    const AskedRequirements& asked, std::optional<policies::Installer> installer,
    std::string_view head, const std::string& name);

}  // namespace wardcase::supervisor
