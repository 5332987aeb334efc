// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <span>
#include <string_view>

namespace wardcase::supervisor {

// What a version of Python takes for the compiled form of a module, and which does nothing but
// execute the module's text.
struct PythonStarter {
  std::string_view tag;   // "cpython-311", as it stands in the name of the compiled file
  std::string_view data;  // base64
};

[[nodiscard]] std::span<const PythonStarter> python_starters();

}  // namespace wardcase::supervisor
