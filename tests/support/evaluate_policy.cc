// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "tests/support/evaluate_policy.h"

#include <algorithm>

namespace wardcase::test {
namespace {

using policies::ArgTest;

bool holds(const ArgTest& test, const Arguments& arguments) {
  if (test.kind == ArgTest::Kind::is_null) return arguments[test.argument] == 0;
  const std::uint64_t low = arguments[test.argument] & 0xffff'ffff;
  return std::ranges::any_of(test.values, [&](std::uint32_t value) {
    return test.kind == ArgTest::Kind::any_of ? low == value : (low & value) != 0;
  });
}

}  // namespace

policies::Answer evaluate_rule(const policies::SyscallRule& rule, const Arguments& arguments) {
  for (const policies::SyscallCase& one_case : rule.cases) {
    if (std::ranges::all_of(one_case.when,
                            [&](const ArgTest& test) { return holds(test, arguments); })) {
      return one_case.answer;
    }
  }
  return rule.otherwise;
}

}  // namespace wardcase::test
