// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>
#include <vector>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {

// A JSON text, and the name of the schema in the description of the HTTP interface that it is to
// be valid by.
struct DescribedJson {
  std::string schema;
  std::string text;
};

// Has them judged by that description, which the service itself gave. Its stdout has a line
// "checked SCHEMA" for each, and one for whatever is wrong with it before.
[[nodiscard]] Outcome judge_described(Caller caller, const std::string& openapi,
                                      const std::vector<DescribedJson>& all);

}  // namespace wardcase::test
