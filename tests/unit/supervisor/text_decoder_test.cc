// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/text_decoder.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace wardcase::supervisor {
namespace {

using namespace std::string_literals;

struct Decoded {
  std::string text;
  std::uint64_t errors;
};

Decoded decode(const std::vector<std::string_view>& pieces) {
  TextDecoder decoder;
  std::string text;
  for (const std::string_view piece : pieces) decoder.decode(piece, text);
  decoder.finish(text);
  return {text, decoder.errors()};
}

TEST(TextDecoder, PassesValidTextThrough) {
  const std::string text = "plain, caf\u00e9, \u20ac, \U0001F600, \u0000 and \u007f\U0010FFFF"s;
  const Decoded decoded = decode({text});
  EXPECT_EQ(decoded.text, text);
  EXPECT_EQ(decoded.errors, 0U);
}

TEST(TextDecoder, ReplacesOnlyWhatIsBad) {
  const Decoded decoded = decode({"ok \xff\xfe end\ncaf\xc3\xa9\n"});
  EXPECT_EQ(decoded.text, "ok \ufffd\ufffd end\ncaf\u00e9\n");
  EXPECT_EQ(decoded.errors, 2U);
}

TEST(TextDecoder, PutsOneReplacementForEachMaximalBadPart) {
  const struct {
    std::string_view bytes;
    std::uint64_t replacements;
  } cases[] = {
      {"\x80", 1},                  // a continuation without a start
      {"\xbf\xbf", 2},              //
      {"\xc0\xaf", 2},              // overlong, two bytes
      {"\xc1\xbf", 2},              //
      {"\xe0\x9f\xbf", 3},          // overlong, three bytes
      {"\xf0\x8f\xbf\xbf", 4},      // overlong, four bytes
      {"\xed\xa0\x80", 3},          // a surrogate
      {"\xf4\x90\x80\x80", 4},      // above U+10FFFF
      {"\xf5\x80\x80\x80", 4},      // no character begins so
      {"\xff", 1},                  //
      {"\xe2\x82", 1},              // cut short at the end
      {"\xf0\x9f\x98", 1},          //
      {"\xe2\x82\xe2\x82", 2},      // cut short by the next start
      {"\xf0\x9f\xff", 2},          // cut short by a bad byte
      {"\xe1\x80\xe2\xf0\x91", 3},  // the example of the Unicode Standard, table 3-8
  };
  for (const auto& one : cases) {
    const Decoded decoded = decode({"<"s + std::string(one.bytes) + ">"});
    std::string expected = "<";
    for (std::uint64_t i = 0; i < one.replacements; ++i) expected += "\ufffd";
    EXPECT_EQ(decoded.text, expected + ">") << testing::PrintToString(one.bytes);
    EXPECT_EQ(decoded.errors, one.replacements) << testing::PrintToString(one.bytes);
  }
}

// Every kind of character and of bad part, one after another.
constexpr std::string_view kMixed =
    "a\u00e9\u20ac\U0001F600\xff\xe2\x82z\xf0\x9f\x98\xed\xa0\x80\xc3\xc3\xa9\xf4\x90"
    "plain text that is longer than a word\U0001F600\xf0\x9f";

TEST(TextDecoder, DoesNotCareWhereItsInputIsDivided) {
  const Decoded whole = decode({kMixed});
  for (std::size_t i = 0; i <= kMixed.size(); ++i) {
    for (std::size_t j = i; j <= kMixed.size(); ++j) {
      const Decoded split =
          decode({kMixed.substr(0, i), kMixed.substr(i, j - i), kMixed.substr(j)});
      ASSERT_EQ(split.text, whole.text) << i << " and " << j;
      ASSERT_EQ(split.errors, whole.errors) << i << " and " << j;
    }
  }
}

TEST(TextDecoder, TakesBytesOneByOne) {
  std::vector<std::string_view> bytes;
  for (const char& byte : kMixed) bytes.emplace_back(&byte, 1);
  EXPECT_EQ(decode(bytes).text, decode({kMixed}).text);
}

TEST(TextDecoder, HoldsBackAnUnfinishedCharacter) {
  TextDecoder decoder;
  std::string text;
  decoder.decode("x\xf0\x9f\x98", text);
  EXPECT_EQ(text, "x");
  EXPECT_EQ(decoder.unfinished(), 3U);
  decoder.decode("\x80", text);
  EXPECT_EQ(text, "x\U0001F600");
  EXPECT_EQ(decoder.unfinished(), 0U);
}

TEST(TextDecoder, IsMuchFasterThanAProgramWrites) {
  const std::string big(50'000'000, 'x');
  std::string text;
  text.reserve(big.size());
  TextDecoder decoder;
  const auto begin = std::chrono::steady_clock::now();
  decoder.decode(big, text);
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(text.size(), big.size());
  EXPECT_LT(took, std::chrono::seconds(2));  // some 30 ms in a release build on an idle machine
}

}  // namespace
}  // namespace wardcase::supervisor
