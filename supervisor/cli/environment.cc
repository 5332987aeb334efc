// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/environment.h"

#include <fcntl.h>

#include <algorithm>
#include <cstdlib>

#include "sandbox/sys/files.h"

namespace wardcase::supervisor {

sys::Result<std::string> parse_variable(std::string_view text) {
  const auto equals = text.find('=');
  const std::string name(text.substr(0, equals));
  if (name.empty() || text.find('\0') != std::string_view::npos) {
    return tl::unexpected(sys::plain_error("write NAME=VALUE, or NAME to copy the caller's value"));
  }
  if (equals != std::string_view::npos) return std::string(text);
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) {
    return tl::unexpected(
        sys::plain_error("'" + name + "' is not set here; write " + name + "=VALUE"));
  }
  return name + "=" + value;
}

sys::Result<std::vector<std::string>> parse_variables(std::string_view text) {
  std::vector<std::string> variables;
  for (int number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos || line[first] == '#') continue;
    auto variable = parse_variable(line.substr(first));
    if (!variable) {
      return tl::unexpected(
          std::move(variable).error().while_doing("line " + std::to_string(number)));
    }
    variables.push_back(*std::move(variable));
  }
  return variables;
}

sys::Result<std::vector<std::string>> read_variables(const std::string& path) {
  const auto text = sys::read_file(AT_FDCWD, path.c_str());
  if (!text) return tl::unexpected(text.error());
  return parse_variables(*text);
}

}  // namespace wardcase::supervisor
