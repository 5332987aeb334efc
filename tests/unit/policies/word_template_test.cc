// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "policies/word_template.h"

#include <gtest/gtest.h>

#include "policies/version_number.h"

namespace wardcase::policies {
namespace {

TEST(WordTemplate, EachPlaceholderIsReplaced) {
  const Filling fillings[] = {{"a", "1"}, {"b_c", "{a}"}, {"none", std::nullopt}};
  EXPECT_EQ(fill_template("x{a}y{b_c}", fillings), "x1y{a}") << "what is filled in stays as it is";
  EXPECT_EQ(fill_template("{ } {} {A} {1} {", fillings), "{ } {} {A} {1} {");
  EXPECT_EQ(fill_template("{none}", fillings), std::nullopt);
  EXPECT_EQ(fill_template("{other}", fillings), std::nullopt);
  EXPECT_EQ(fill_template("", fillings), "");
}

TEST(WordTemplate, UnknownPlaceholdersAreFound) {
  constexpr std::string_view kKnown[] = {"a"};
  EXPECT_EQ(unknown_placeholder("{a}{b}", kKnown), "b");
  EXPECT_EQ(unknown_placeholder("{a} { b }", kKnown), "");
  EXPECT_TRUE(has_placeholder("-o{output}", "output"));
  EXPECT_FALSE(has_placeholder("output", "output"));
}

std::string told(std::string_view pattern, std::string_view line) {
  const auto error = match_error(pattern, line);
  if (!error) return "no";
  return error->file + "|" + std::to_string(error->line) + "|" + std::to_string(error->column) +
         "|" + error->text;
}

TEST(ErrorPattern, TakesALineApart) {
  EXPECT_EQ(told("{file}:{line}:{column}: error: {text}", "main.c:3:5: error: expected ';'"),
            "main.c|3|5|expected ';'");
  EXPECT_EQ(told("{file}:{line}:{column}: error: {text}", "a:b.c:3:5: error: x: y"),
            "a:b.c|3|5|x: y");
  EXPECT_EQ(told("{file}: line {line}: {text}", "main.sh: line 2: syntax error"),
            "main.sh|2|0|syntax error");
  EXPECT_EQ(told("Parse error: {text} in {file} on line {line}",
                 "Parse error: syntax error in expression in /box/main.php on line 12"),
            "expression in /box/main.php|12|0|syntax error");
  EXPECT_EQ(told("error[{any}]: {text}", "error[E0425]: cannot find value"),
            "|0|0|cannot find value");
}

TEST(ErrorPattern, OtherLinesAreNone) {
  EXPECT_EQ(told("{file}:{line}: {text}", "main.c: 3: x"), "no");
  EXPECT_EQ(told("{file}:{line}: {text}", "main.c:x: y"), "no");
  EXPECT_EQ(told("{file}:{line}: {text}", ":3: y"), "no");
  EXPECT_EQ(told("{file}:{line}: {text}", "main.c:3: "), "no");
  EXPECT_EQ(told("{file}:{line}: {text}", "main.c:12345678901: y"), "no");
  EXPECT_EQ(told("{file}", ""), "no");
}

TEST(ErrorPattern, AHostileLineTakesNoTime) {
  std::string line;
  for (int i = 0; i < 100'000; ++i) line += ": in ";
  EXPECT_EQ(told("{text}: in {any}: in {any}: in {any}: in {file} on {line}", line), "no");
}

TEST(Version, IsFoundInWhatProgramsSayOfThemselves) {
  EXPECT_EQ(find_version("Python 3.11.2"), "3.11.2");
  EXPECT_EQ(find_version("GNU bash, version 5.2.15(1)-release (x86_64-pc-linux-gnu)"), "5.2.15");
  EXPECT_EQ(find_version("gcc (Debian 12.2.0-14) 12.2.0"), "12.2.0");
  EXPECT_EQ(find_version("v20.20.2"), "20.20.2");
  EXPECT_EQ(find_version("go version go1.19.8 linux/amd64"), "1.19.8");
  EXPECT_EQ(find_version("openjdk 17 2021"), "17");
  EXPECT_EQ(find_version("none"), "");
  EXPECT_EQ(find_version("3."), "3");
}

TEST(Version, IsComparedByItsNumbers) {
  EXPECT_TRUE(is_version_below("3.6", "3.11"));
  EXPECT_TRUE(is_version_below("3", "3.1"));
  EXPECT_TRUE(is_version_below("", "1"));
  EXPECT_FALSE(is_version_below("3.11", "3.6"));
  EXPECT_FALSE(is_version_below("3.0.0", "3"));
  EXPECT_FALSE(is_version_below("22.18.0", "22.18"));
  EXPECT_FALSE(is_version_below("5.2", ""));
  EXPECT_FALSE(is_version_below("99999999999999999999999", "3"));
}

}  // namespace
}  // namespace wardcase::policies
