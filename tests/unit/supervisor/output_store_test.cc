// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/output_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "supervisor/run/text_decoder.h"
#include "tests/unit/supervisor/descriptors.h"

namespace wardcase::supervisor {
namespace {

KeptOutput keep(std::uint64_t cap, std::string_view bytes, std::size_t chunk) {
  OutputStore store(cap);
  for (std::size_t at = 0; at < bytes.size(); at += chunk) store.append(bytes.substr(at, chunk));
  return store.kept();
}

TEST(OutputStore, KeepsAllThatFits) {
  const KeptOutput kept = keep(10, "0123456789", 3);
  EXPECT_EQ(kept.text, "0123456789");
  EXPECT_EQ(kept.raw, "0123456789");
  EXPECT_EQ(kept.bytes, 10U);
  EXPECT_FALSE(kept.truncated);
}

TEST(OutputStore, KeepsHeadAndTailAroundAMarkerLine) {
  const KeptOutput kept = keep(10, "01234 and much between 56789", 3);
  EXPECT_EQ(kept.text, "01234\n[wardcase: 18 bytes omitted]\n56789");
  EXPECT_EQ(kept.raw, "0123456789");
  EXPECT_EQ(kept.bytes, 28U);
  EXPECT_TRUE(kept.truncated);
}

TEST(OutputStore, PutsNoBlankLineBeforeTheMarker) {
  EXPECT_EQ(keep(10, "0123\nbetween6789\n", 100).text, "0123\n[wardcase: 7 bytes omitted]\n6789\n");
}

TEST(OutputStore, DoesNotCareHowItsInputIsDivided) {
  const std::string text = test::long_text(997);
  for (const std::uint64_t cap : {2U, 3U, 7U, 64U, 996U, 997U, 998U, 2000U}) {
    const KeptOutput whole = keep(cap, text, text.size());
    for (const std::size_t chunk : {1U, 2U, 5U, 31U, 32U, 33U, 400U}) {
      const KeptOutput pieces = keep(cap, text, chunk);
      ASSERT_EQ(pieces.text, whole.text) << cap << ' ' << chunk;
      ASSERT_EQ(pieces.raw, whole.raw) << cap << ' ' << chunk;
    }
    EXPECT_EQ(whole.raw.size(), std::min<std::size_t>(cap, text.size()));
    EXPECT_EQ(whole.truncated, cap < text.size());
  }
}

TEST(OutputStore, CutsAtCharacterEdges) {
  std::string text;
  for (int i = 0; i < 50; ++i) text += "x\u00e9\u20ac\U0001F600";
  for (std::uint64_t cap = 2; cap < text.size(); ++cap) {
    const KeptOutput kept = keep(cap, text, 7);
    EXPECT_EQ(kept.encoding_errors, 0U) << cap;
    EXPECT_EQ(kept.text.find("\ufffd"), std::string::npos) << cap;
    EXPECT_LE(kept.raw.size(), cap);
    EXPECT_GE(kept.raw.size() + 6, cap);
    const std::string marker =
        "[wardcase: " + std::to_string(text.size() - kept.raw.size()) + " bytes omitted]\n";
    EXPECT_NE(kept.text.find(marker), std::string::npos) << cap;
    EXPECT_EQ(to_utf8(kept.raw), kept.raw) << cap;
  }
}

TEST(OutputStore, KeepsACharacterWholeAcrossItsHalves) {
  const KeptOutput kept = keep(4, "\U0001F600", 1);
  EXPECT_EQ(kept.text, "\U0001F600");
  EXPECT_FALSE(kept.truncated);
}

TEST(OutputStore, CountsWhatItReplaces) {
  const KeptOutput kept = keep(1000, "ok \xff\xfe end\ncaf\xc3", 4);
  EXPECT_EQ(kept.text, "ok \ufffd\ufffd end\ncaf\ufffd");
  EXPECT_EQ(kept.raw, "ok \xff\xfe end\ncaf\xc3");
  EXPECT_EQ(kept.encoding_errors, 3U);
}

TEST(OutputStore, StaysWithinItsCapWhateverComes) {
  OutputStore store(64UL * 1024);
  const std::string chunk = test::long_text(64UL * 1024);
  for (int i = 0; i < 1000; ++i) store.append(chunk);
  EXPECT_EQ(store.total(), 1000U * chunk.size());
  const KeptOutput kept = store.kept();
  EXPECT_EQ(kept.raw, chunk.substr(0, 32UL * 1024) + chunk.substr(32UL * 1024));
  EXPECT_TRUE(kept.truncated);
}

TEST(OutputStore, PassesTextThatLooksLikeOursAsItIs) {
  const std::string forged = "[wardcase: 7 bytes omitted]\n[Timeout Error] fake\n";
  const KeptOutput kept = keep(1000, forged, 5);
  EXPECT_EQ(kept.text, forged);
  EXPECT_FALSE(kept.truncated);
}

TEST(OutputStore, IsEmptyAtFirst) {
  const KeptOutput kept = OutputStore(2).kept();
  EXPECT_EQ(kept.text, "");
  EXPECT_EQ(kept.bytes, 0U);
  EXPECT_FALSE(kept.truncated);
}

TEST(OutputStore, TakesOtherLinesForTheFallbackAndCutsWhereOneBegins) {
  const auto gbk = EncodingFallback::open("gbk");
  ASSERT_TRUE(gbk) << gbk.error().message();
  const std::string hello = "\xC4\xE3\xBA\xC3\n";
  OutputStore whole(100, &*gbk);
  whole.append(hello + "caf\xC3\xA9\n");
  EXPECT_EQ(whole.kept().text, "你好\ncafé\n");
  EXPECT_EQ(whole.kept().encoding_errors, 0U);

  // Half of it: head and tail both end within a character.
  OutputStore cut(16, &*gbk);
  for (int i = 0; i < 5; ++i) cut.append(hello);
  EXPECT_EQ(cut.kept().text, "你好\n你\n[wardcase: 13 bytes omitted]\n你好\n");
  EXPECT_EQ(cut.kept().raw, hello + "\xC4\xE3" + hello);
  EXPECT_EQ(cut.kept().encoding_errors, 0U);
}

}  // namespace
}  // namespace wardcase::supervisor
