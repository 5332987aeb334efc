// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/comparators.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace wardcase::supervisor {
namespace {

using Kind = Comparison::Kind;

// What is said, which is the same in however many pieces the output comes.
std::string compare(const Comparison& comparison, std::string_view expected,
                    std::string_view output) {
  const auto whole = make_comparator(comparison, expected);
  whole->take(output);
  std::string said = whole->finish();
  for (std::size_t size = 1; size < 4; ++size) {
    const auto pieces = make_comparator(comparison, expected);
    for (std::size_t at = 0; at < output.size(); at += size) pieces->take(output.substr(at, size));
    EXPECT_EQ(pieces->finish(), said) << "in pieces of " << size;
  }
  return said;
}

std::string exact(std::string_view expected, std::string_view output) {
  return compare({.kind = Kind::exact}, expected, output);
}
std::string trim(std::string_view expected, std::string_view output) {
  return compare({.kind = Kind::trim}, expected, output);
}
std::string tokens(std::string_view expected, std::string_view output) {
  return compare({.kind = Kind::tokens}, expected, output);
}
std::string numbers(std::string_view expected, std::string_view output, double absolute = 1e-6,
                    double relative = 1e-6) {
  return compare({.kind = Kind::number, .absolute = absolute, .relative = relative}, expected,
                 output);
}

TEST(Comparators, ExactIsByteByByte) {
  EXPECT_EQ(exact("", ""), "");
  EXPECT_EQ(exact("a\nb\n", "a\nb\n"), "");
  EXPECT_EQ(exact(std::string_view("a\0b", 3), std::string_view("a\0b", 3)), "");
  EXPECT_EQ(exact("a\nbcd\n", "a\nbxd\n"), "line 2, column 2: expected 'cd\\n', got 'xd\\n'");
  EXPECT_EQ(exact("a\n", "a"), "line 1, column 2: expected '\\n', got nothing more");
  EXPECT_EQ(exact("a", "a\n"), "line 1, column 2: expected nothing more, got '\\n'");
  EXPECT_EQ(exact("", "x"), "line 1, column 1: expected nothing more, got 'x'");
  EXPECT_EQ(exact("a\r\n", "a\n"), "line 1, column 2: expected '\\x0d\\n', got '\\n'");
}

TEST(Comparators, ColumnsAreOfCharactersAndExcerptsAreShortAndValid) {
  EXPECT_EQ(exact("äöx", "äöy"), "line 1, column 3: expected 'x', got 'y'");
  const std::string said = exact(std::string(1000, 'a'), "b" + std::string(1000, 'c'));
  EXPECT_EQ(said, "line 1, column 1: expected '" + std::string(40, 'a') + "...', got 'b" +
                      std::string(39, 'c') + "...'");
  EXPECT_EQ(exact("x", "\xff\x1b"), "line 1, column 1: expected 'x', got '\xef\xbf\xbd\\x1b'");
}

TEST(Comparators, TrimIgnoresWhiteSpaceAtTheEndsOfLinesAndOfAll) {
  for (const std::string_view output :
       {"a\n b", "a\n b\n", "a \t\n b\n\n\n", "a\r\n b\r\n", "a\n b   \n   \n\t\n"}) {
    EXPECT_EQ(trim("a\n b\n", output), "") << output;
    EXPECT_EQ(trim(output, "a\n b\n"), "") << output;
  }
  EXPECT_EQ(trim("", "\n  \n"), "");
  EXPECT_EQ(trim("\n\n", ""), "");
}

TEST(Comparators, TrimCountsWhatIsBeforeOrBetween) {
  EXPECT_EQ(trim("a", " a"), "line 1, column 1: expected 'a', got ' a'");
  EXPECT_EQ(trim("a b", "a  b"), "line 1, column 3: expected 'b', got ' b'");
  EXPECT_EQ(trim("a\nb", "a\n\nb"), "line 2, column 1: expected 'b', got '\\nb'");
  EXPECT_EQ(trim("a\n\nb", "a\nb"), "line 2, column 1: expected '\\nb', got 'b'");
  EXPECT_EQ(trim("\na", "a"), "line 1, column 1: expected '\\na', got 'a'");
  EXPECT_EQ(trim("a\nb", "a\n \tb"), "line 2, column 1: expected 'b', got ' \\x09b'");
  EXPECT_EQ(trim("a\nb\n", "a  \n"), "line 1, column 2: expected '\\nb', got nothing more");
  EXPECT_EQ(trim("a", "a\nb"), "line 1, column 2: expected nothing more, got '\\nb'");
  EXPECT_EQ(trim("a\rb", "a\nb"), "line 1, column 2: expected '\\x0db', got '\\nb'");
}

TEST(Comparators, TrimHoldsNothingOfEndlessWhiteSpace) {
  const auto comparator = make_comparator({.kind = Kind::trim}, "a");
  comparator->take("a");
  const std::string spaces(1 << 20, ' ');
  for (int i = 0; i < 64; ++i) comparator->take(spaces);
  EXPECT_EQ(comparator->finish(), "");
  const auto other = make_comparator({.kind = Kind::trim}, "a");
  other->take("a");
  for (int i = 0; i < 4; ++i) other->take(spaces);
  other->take("b");
  EXPECT_EQ(other->finish().find("line 1, column 2: expected nothing more, got '"), 0U);
}

TEST(Comparators, TokensAreWordsBetweenAnyWhiteSpace) {
  EXPECT_EQ(tokens("1 2\n3", "1\n2   3\n"), "");
  EXPECT_EQ(tokens("", " \n"), "");
  EXPECT_EQ(tokens("1 2 3", "1 22 3"), "word 2, line 1, column 3: expected '2', got '22'");
  EXPECT_EQ(tokens("1 2 3", "1 2"), "word 3, line 1, column 4: expected '3', got nothing more");
  EXPECT_EQ(tokens("1 2", "1 2\n3"), "word 3, line 2, column 1: expected nothing more, got '3'");
  EXPECT_EQ(tokens("10", "1 0"), "word 1, line 1, column 1: expected '10', got '1'");
  EXPECT_EQ(tokens("1.0", "1"), "word 1, line 1, column 1: expected '1.0', got '1'");
  EXPECT_NE(tokens(std::string(100, 'a'), std::string(101, 'a')), "");
  EXPECT_NE(tokens(std::string(101, 'a'), std::string(100, 'a')), "");
}

TEST(Comparators, NumbersMayDifferALittle) {
  EXPECT_EQ(numbers("3.14159265 x", "3.1415926 x"), "");
  EXPECT_EQ(numbers("1000000", "1000000.9"), "");
  EXPECT_EQ(numbers("0", "0.0000009"), "");
  EXPECT_EQ(numbers("1e3", "+1000.0"), "");
  EXPECT_EQ(numbers("1", "1." + std::string(1000, '0')), "");
  EXPECT_EQ(numbers("1", "1.1"), "word 1, line 1, column 1: expected '1', got '1.1'");
  EXPECT_NE(numbers("1", "1.001", 0, 1e-6), "");
  EXPECT_EQ(numbers("100", "101", 0, 0.01), "");
  EXPECT_EQ(numbers("100", "101", 1, 0), "");
  EXPECT_NE(numbers("100", "101", 0.5, 0), "");
  EXPECT_EQ(numbers("-0", "0", 0, 0), "");
}

TEST(Comparators, NumbersThatAreNoneAndOthersAreDefined) {
  EXPECT_EQ(numbers("nan inf -inf", "NaN Infinity -INF"), "");
  EXPECT_EQ(numbers("nan", "-nan"), "");
  EXPECT_NE(numbers("nan", "1"), "");
  EXPECT_NE(numbers("1", "nan"), "");
  EXPECT_NE(numbers("inf", "-inf"), "");
  EXPECT_NE(numbers("1e308", "inf", 1e300, 1), "");
  EXPECT_NE(numbers("yes", "no"), "");
  EXPECT_NE(numbers("1", "1x"), "");
  EXPECT_NE(numbers("1", "1,0"), "");
  EXPECT_NE(numbers("1", "+-1"), "");
  EXPECT_NE(numbers("16", "0x10"), "");
  EXPECT_EQ(numbers("1e999", "1e999"), "") << "beyond all doubles: as text";
  EXPECT_NE(numbers("1e999", "1e998"), "");
  EXPECT_NE(numbers("1", std::string(100'000, '1')), "");
}

TEST(Comparators, TheWholeOutputIsComparedAndNoMoreOfItHeld) {
  const std::string piece(1 << 20, 'x');
  for (const Kind kind : {Kind::exact, Kind::trim, Kind::tokens, Kind::number}) {
    std::string expected;
    for (int i = 0; i < 10; ++i) expected += piece;
    const auto same = make_comparator({.kind = kind}, expected);
    const auto longer = make_comparator({.kind = kind}, expected);
    for (int i = 0; i < 10; ++i) {
      same->take(piece);
      longer->take(piece);
    }
    EXPECT_EQ(same->finish(), "");
    longer->take("y");
    EXPECT_NE(longer->finish(), "");
  }
}

}  // namespace
}  // namespace wardcase::supervisor
