// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "policies/code_pattern.h"

#include <gtest/gtest.h>

#include "policies/policy_merge.h"
#include "policies/policy_reader.h"
#include "policies/policy_text.h"

namespace wardcase::policies {
namespace {

sys::Result<Policy> read(const std::string& text) {
  return read_policy("schema = 1\n[deny_code]\n" + text, "p.toml", FileKind::policy);
}

TEST(DeniedCode, TheFirstLineIsFound) {
  const std::string pattern = R"(rm\s+(-\w+\s+)*/(\s|$))";
  EXPECT_EQ(find_code(pattern, "rm -rf /"), 1U);
  EXPECT_EQ(find_code(pattern, "cd /tmp\necho\nrm  -r -f / # all\nrm /"), 3U);
  EXPECT_EQ(find_code(pattern, "rm -rf /tmp/x\n"), std::nullopt);
  EXPECT_EQ(find_code(pattern, ""), std::nullopt);
  EXPECT_EQ(find_code("^b$", "a\nb\nc"), 2U);
  EXPECT_EQ(find_code("\xE9", "x\n\xE9"), 2U) << "bytes that are no UTF-8";
}

TEST(DeniedCode, NoPatternTakesLong) {
  EXPECT_EQ(find_code("(a+)+$x", std::string(1 << 20, 'a')), std::nullopt);
}

TEST(DeniedCode, IsReadInBothForms) {
  const auto policy = read(
      "short = 'x+'\nlong = { pattern = 'y', languages = [\"bash\", \"c\"], why = \"it hurts\" "
      "}\n");
  ASSERT_TRUE(policy) << policy.error().message();
  ASSERT_EQ(policy->denied_code.size(), 2U);
  const DeniedCode& first = policy->denied_code[0].value;  // in alphabetical order
  EXPECT_EQ(first.name, "long");
  EXPECT_EQ(first.languages.size(), 2U);
  EXPECT_EQ(first.why, "it hurts");
  EXPECT_EQ(policy->denied_code[1].value.pattern, "x+");
  EXPECT_EQ(policy->denied_code[1].origin, "p.toml:3");
}

TEST(DeniedCode, WhatIsWrongIsToldWithItsPlace) {
  const auto bad = read("a = '('");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().message().find("p.toml:3:5: deny_code.a: '(': not a regular expression"),
            0U)
      << bad.error().message();
  EXPECT_FALSE(read("a = ''"));
  EXPECT_FALSE(read("a = 1"));
  EXPECT_FALSE(read("a = { languages = [] }"));
  EXPECT_FALSE(read("a = { pattern = 'x', patern = 'y' }"));
}

TEST(DeniedCode, IsAddedToAndComesBackAsText) {
  const Policy both = lay_over(read("a = 'x'").value(), read("b = \"y\\\\d\"").value());
  EXPECT_EQ(both.denied_code.size(), 2U);
  const auto again = read_policy(to_toml(both, Origins::left_out), "again.toml", FileKind::policy);
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(again->denied_code.size(), 2U);
  EXPECT_EQ(again->denied_code[1].value.pattern, "y\\d");
}

}  // namespace
}  // namespace wardcase::policies
