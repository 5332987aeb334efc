// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "policies/snippet_name.h"

#include <algorithm>

namespace wardcase::policies {
namespace {

// Blanks before it do not count.
bool has_line_with(std::string_view code, Words starts) {
  while (!code.empty()) {
    std::string_view line = code.substr(0, code.find('\n'));
    code.remove_prefix(std::min(code.size(), line.size() + 1));
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(" \t")));
    if (std::ranges::any_of(starts,
                            [&](std::string_view start) { return line.starts_with(start); }))
      return true;
  }
  return false;
}

}  // namespace

std::string_view snippet_name(const Language& language, std::string_view code) {
  const SnippetVariant& variant = language.variant;
  const bool is_variant = !variant.name.empty() && has_line_with(code, variant.line_starts) &&
                          std::ranges::none_of(variant.unless, [&](std::string_view word) {
                            return code.find(word) != std::string_view::npos;
                          });
  return is_variant ? variant.name : language.snippet_name;
}

}  // namespace wardcase::policies
