// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/line_decoder.h"

#include <gtest/gtest.h>

#include <string>

namespace wardcase::supervisor {
namespace {

// "你好" in GBK, whose first byte begins a character of UTF-8 that does not follow.
constexpr std::string_view kHelloInGbk = "\xC4\xE3\xBA\xC3";
constexpr std::string_view kHello = "你好";

struct Decoded {
  std::string text;
  std::uint64_t errors = 0;

  friend bool operator==(const Decoded&, const Decoded&) = default;
};

std::ostream& operator<<(std::ostream& out, const Decoded& decoded) {
  return out << testing::PrintToString(decoded.text) << ", " << decoded.errors << " errors";
}

class LineDecoderTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = EncodingFallback::open("gbk");
    ASSERT_TRUE(opened) << opened.error().message();
    gbk.emplace(*std::move(opened));
  }

  [[nodiscard]] Decoded decode(std::string_view bytes, std::size_t chunk) const {
    LineDecoder decoder(&*gbk);
    Decoded decoded;
    for (std::size_t at = 0; at < bytes.size(); at += chunk) {
      decoder.decode(bytes.substr(at, chunk), decoded.text);
    }
    decoder.finish(decoded.text);
    decoded.errors = decoder.errors();
    return decoded;
  }

  std::optional<EncodingFallback> gbk;
};

TEST_F(LineDecoderTest, EachLineIsTakenForWhatItIs) {
  const std::string hello(kHelloInGbk);
  const std::pair<std::string, Decoded> cases[] = {
      {"plain\n", {"plain\n", 0}},
      {"caf\xC3\xA9\n" + hello + "\n", {"café\n你好\n", 0}},
      {"a " + hello + " b", {"a 你好 b", 0}},
      {hello + "\r\n" + hello, {"你好\r\n你好", 0}},
      // Neither of the two: replaced as without a fallback.
      {"bad \xFF\xFF\n" + hello, {"bad \uFFFD\uFFFD\n你好", 2}},
      {"cut \xC4\nnext", {"cut \uFFFD\nnext", 1}},
      {"cut \xC4", {"cut \uFFFD", 1}},
      {"\n\n", {"\n\n", 0}},
      {"", {"", 0}},
  };
  for (const auto& [bytes, wanted] : cases) {
    for (const std::size_t chunk : {1U, 2U, 3U, 100U}) {
      EXPECT_EQ(decode(bytes, chunk), wanted) << testing::PrintToString(bytes) << ' ' << chunk;
    }
  }
}

TEST_F(LineDecoderTest, WhatIsSureIsGivenAtOnce) {
  LineDecoder decoder(&*gbk);
  std::string text;
  decoder.decode("name? ", text);
  EXPECT_EQ(text, "name? ");
  decoder.decode(kHelloInGbk, text);
  EXPECT_EQ(text, "name? ");
  decoder.decode("\nnext", text);
  EXPECT_EQ(text, "name? 你好\nnext");
}

TEST_F(LineDecoderTest, AnEndlessLineIsNotKept) {
  LineDecoder decoder(&*gbk);
  std::string text;
  std::string wanted;
  for (int i = 0; i < 100'000; ++i) {
    decoder.decode(kHelloInGbk, text);
    wanted += kHello;
    ASSERT_GE(text.size() + 3UL * 66 * 1024, wanted.size());
  }
  decoder.finish(text);
  EXPECT_EQ(text, wanted);
  EXPECT_EQ(decoder.errors(), 0U);
}

TEST_F(LineDecoderTest, AtACutTheUnfinishedCharacterIsDropped) {
  LineDecoder decoder(&*gbk);
  std::string text;
  decoder.decode(std::string(kHelloInGbk) + "\xBA", text);
  EXPECT_EQ(decoder.cut(text), 1U);
  EXPECT_EQ(text, kHello);
  EXPECT_EQ(decoder.errors(), 0U);
}

TEST(LineDecoder, WithoutAFallbackIsATextDecoder) {
  LineDecoder decoder;
  std::string text;
  decoder.decode("a\xFF\xC3", text);
  EXPECT_EQ(text, "a\uFFFD");
  EXPECT_EQ(decoder.cut(text), 1U);
  EXPECT_EQ(decoder.errors(), 1U);
}

TEST(EncodingFallback, LosesNoCharacterThatIsHeldBack) {
  const std::pair<const char*, const char*> cases[] = {{"cp1255", "\xF9\xEC\xE5\xED"},
                                                       {"big5-hkscs", "\x88\x66"}};
  for (const auto& [name, bytes] : cases) {
    const auto opened = EncodingFallback::open(name);
    ASSERT_TRUE(opened) << opened.error().message();
    LineDecoder decoder(&*opened);
    std::string text;
    decoder.decode(std::string(bytes) + "\n", text);
    EXPECT_EQ(text, std::string(name) == "cp1255" ? "שלום\n" : "Ê\n");
  }
}

TEST(EncodingFallback, IsRefusedWhereItCannotStandInForUtf8) {
  for (const char* name : {"", "no-such-encoding", "gbk//TRANSLIT", "/etc/passwd", "../x"}) {
    const auto opened = EncodingFallback::open(name);
    ASSERT_FALSE(opened) << name;
    EXPECT_NE(opened.error().message().find("iconv -l"), std::string::npos);
  }
  for (const char* name : {"utf-16", "utf-7", "ebcdic-us"}) {
    const auto opened = EncodingFallback::open(name);
    ASSERT_FALSE(opened) << name;
    EXPECT_NE(opened.error().message().find("ASCII"), std::string::npos);
  }
  for (const char* name : {"gbk", "GB18030", "latin1", "big5", "euc-jp", "windows-1252"}) {
    EXPECT_TRUE(EncodingFallback::open(name)) << name;
  }
}

}  // namespace
}  // namespace wardcase::supervisor
