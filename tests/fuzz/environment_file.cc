// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <string>
#include <string_view>

#include "supervisor/cli/environment.h"
#include "tests/fuzz/fuzz_target.h"

using wardcase::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto variables = wardcase::supervisor::parse_variables(text);
  if (!variables) {
    require(variables.error().message().starts_with("line "), "a refusal names the line");
    return 0;
  }
  for (const std::string& variable : *variables) {
    const auto equals = variable.find('=');
    require(equals != std::string::npos && equals > 0, "a variable is NAME=VALUE");
    require(variable.find('\0') == std::string::npos && variable.find('\n') == std::string::npos,
            "a variable is one line without a zero byte");
  }
  return 0;
}
