// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/requirement_source.h"

#include <iterator>
#include <utility>

namespace wardcase::supervisor {
namespace {

void append(std::vector<Requirement>& all, std::vector<Requirement> more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

sys::Result<AskedRequirements> read_requirements(const RequirementSource& source) {
  AskedRequirements asked = {.words = source.words, .files = {}};
  for (const std::string& path : source.files) {
    auto file = read_requirement_text(path);
    if (!file) return tl::unexpected(std::move(file).error());
    asked.files.push_back(*std::move(file));
  }
  return asked;
}

sys::Result<std::vector<Requirement>> collect_requirements(
    const AskedRequirements& asked, std::optional<policies::Installer> installer,
    std::string_view head, const std::string& name) {
  std::vector<Requirement> all;
  if (!installer) {
    if (asked.empty()) return all;
    return tl::unexpected(
        sys::plain_error("requirements are those of Python and JavaScript; name the program's "
                         "language with -l python or -l javascript"));
  }
  for (const std::string& text : asked.words) {
    auto parsed = parse_requirement(*installer, text);
    if (!parsed) return tl::unexpected(std::move(parsed).error());
    all.push_back(*std::move(parsed));
  }
  for (const RequirementText& file : asked.files) {
    auto read = parse_requirement_file(*installer, file);
    if (!read) return read;
    append(all, *std::move(read));
  }
  if (*installer == policies::Installer::pip) {
    auto own = parse_script_block(head.substr(0, kRequirementHead), name);
    if (!own) return own;
    append(all, *std::move(own));
  }
  return settle_requirements(std::move(all));
}

}  // namespace wardcase::supervisor
